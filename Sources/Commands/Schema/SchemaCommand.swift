// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel
import SkerryStorageSQLite
import SkerryStore

/// `skerry schema`: what a schema file declares: whether it is legal, the SQL that it comes to, and its canonical JSON.
struct SchemaCommand {
  private enum Verb: String, CaseIterable {
    case check
    case sql
    case json
  }

  private let verb: Verb
  private let path: String
  private let isDevice: Bool

  init(_ words: [String]) throws {
    let verbs = Verb.allCases.map(\.rawValue).joined(separator: ", ")
    let arguments = try Arguments(
      words, words: ["one of \(verbs)", "FILE"], options: [],
      flags: words.first == Verb.sql.rawValue ? ["server", "device"] : [])
    guard let verb = Verb(rawValue: arguments.words[0]) else {
      throw UsageError(description: "schema has no '\(arguments.words[0])'; it has \(verbs)")
    }
    if arguments.has("server"), arguments.has("device") {
      throw UsageError(description: "--server and --device cannot be had in one output; ask for one after the other")
    }
    self.verb = verb
    path = arguments.words[1]
    isDevice = arguments.has("device")
  }

  /// - Parameter input: gives all of standard input, for the file `-`.
  func answer(input: () -> [UInt8]) throws -> CommandAnswer {
    let file = SchemaFile(try bytes(input))
    switch verb {
    case .check: return check(file)
    case .sql:
      let catalog = try Catalog(file.schema())
      let statements = isDevice ? Store.statements(for: catalog) : SQLiteStorage.statements(for: catalog)
      return CommandAnswer(statements.map { $0 + ";" }.joined(separator: "\n"))
    case .json: return CommandAnswer(try SchemaFile.canonical(file.schema()))
    }
  }

  private func bytes(_ input: () -> [UInt8]) throws -> [UInt8] {
    if path == "-" { return input() }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw FileError(
        path, "there is no such file, or it may not be read", "name a schema as JSON, or - for standard input")
    }
    return Array(data)
  }

  private func check(_ file: SchemaFile) -> CommandAnswer {
    let complaints = file.complaints
    guard complaints.isEmpty, let schema = try? file.schema() else {
      let count = ReportText.count(complaints.count, "complaint")
      return CommandAnswer((complaints + [count]).map(ReportText.printable).joined(separator: "\n"), code: 1)
    }
    let tables = schema.features.flatMap(\.tables)
    let features = schema.features.map { "\($0.name) (\($0.level.rawValue))" }.joined(separator: ", ")
    let kinds = ["user"] + schema.spaces.map(\.kind).sorted()
    return CommandAnswer(
      "legal: \(schema.name) version \(schema.version), \(ReportText.count(tables.count, "table")), "
        + "kinds of spaces \(kinds.joined(separator: ", ")), "
        + "\(schema.features.count == 1 ? "feature" : "features") \(features), "
        + "fingerprint \(Hex.text(schema.fingerprint))")
  }
}
