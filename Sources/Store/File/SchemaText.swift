// SPDX-License-Identifier: Apache-2.0

import SkerryModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The schema as the file keeps it, so that a later version knows what its rows are made of.
enum SchemaText {
  static func encode(_ schema: Schema) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(schema), as: UTF8.self)
  }

  static func decode(_ text: String) throws -> Schema {
    do { return try JSONDecoder().decode(Schema.self, from: Data(text.utf8)) } catch {
      throw StoreError(.damaged, "skerry_state holds a schema that cannot be read")
    }
  }
}
