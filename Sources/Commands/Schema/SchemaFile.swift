// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel
import SkerryWire

/// A schema as bytes of JSON, and all that can be said against it.
struct SchemaFile {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// - Throws: `SchemaFileError` for what is no schema; what it declares is not checked yet.
  func schema() throws -> Schema {
    // Foundation's decoder takes the first of two members of one name; ours refuses them.
    do { _ = try JSON(parsing: bytes) } catch { throw SchemaFileError(description: "this is no JSON: \(error)") }
    do { return try JSONDecoder().decode(Schema.self, from: Data(bytes)) } catch let error as DecodingError {
      throw SchemaFileError(error)
    }
  }

  /// Everything that is wrong, each in one line; empty if the file is good.
  var complaints: [String] {
    do {
      let schema = try schema()
      let strangers = try SchemaMembers.strangers(in: JSON(parsing: bytes))
      return strangers + schema.complaints.map(\.description)
    } catch { return ["\(error)"] }
  }

  /// The one text of all files that declare the same: members by name, tables, features and kinds of spaces by theirs.
  /// Columns and rules stay as they are, since their order is part of the declaration.
  static func canonical(_ schema: Schema) throws -> String {
    var schema = schema
    schema.spaces.sort { $0.kind < $1.kind }
    schema.features.sort { $0.name < $1.name }
    for index in schema.features.indices { schema.features[index].tables.sort { $0.name < $1.name } }
    schema.local.sort { $0.name < $1.name }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(schema), as: UTF8.self)
  }
}

/// Members of a schema's JSON that mean nothing: a misspelt `optional` would otherwise be passed over.
private enum SchemaMembers {
  /// The members of each object, by the names that lead there from the whole.
  private static let known: [String: Set<String>] = [
    "": ["name", "version", "spaces", "features", "local", "removed"],
    "spaces": ["kind", "root", "members"],
    "spaces.members": ["table", "space", "user", "everyone"],
    "features": ["name", "level", "tables"],
    "features.tables": table,
    "features.tables.columns": column,
    "features.tables.columns.references": ["table", "onDelete"],
    "features.tables.spaces": ["column", "kind", "constant", "parent"],
    "features.tables.indexes": ["columns", "unique"],
    "local": table,
    "local.columns": column,
    "local.indexes": ["columns", "unique"],
  ]

  private static let table: Set<String> = [
    "name", "columns", "key", "spaces", "detection", "indexes", "was", "removed",
  ]
  private static let column: Set<String> = [
    "name", "type", "optional", "rule", "default", "references", "placeholder", "was",
  ]

  static func strangers(in json: JSON) throws -> [String] { strangers(in: json, at: "", named: "") }

  private static func strangers(in json: JSON, at path: String, named place: String) -> [String] {
    switch json {
    case .array(let items):
      return items.enumerated().flatMap { strangers(in: $1, at: path, named: "\(place)[\($0)]") }
    case .object(let members):
      guard let known = known[path] else { return [] }
      return members.flatMap { member in
        let name = place.isEmpty ? member.name : "\(place).\(member.name)"
        guard known.contains(member.name) else {
          return [
            "schema at \(name): such a member means nothing here; write one of \(known.sorted().joined(separator: ", "))"
          ]
        }
        return strangers(in: member.value, at: path.isEmpty ? member.name : "\(path).\(member.name)", named: name)
      }
    default: return []
    }
  }
}

/// Why bytes are no schema: where, what was expected, and what to do.
struct SchemaFileError: Error, CustomStringConvertible {
  let description: String

  init(description: String) { self.description = description }

  init(_ error: DecodingError) {
    let (context, missing): (DecodingError.Context, String?) =
      switch error {
      case .keyNotFound(let key, let context): (context, key.stringValue)
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context): (context, nil)
      @unknown default: (DecodingError.Context(codingPath: [], debugDescription: "\(error)"), nil)
      }
    let place = context.codingPath.reduce("") { path, key in
      key.intValue.map { "\(path)[\($0)]" } ?? (path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)")
    }
    let reason = missing.map { "'\($0)' is missing; write it" } ?? "\(context.debugDescription); see the schema's forms"
    description = "schema\(place.isEmpty ? "" : " at " + place): \(reason)"
  }
}
