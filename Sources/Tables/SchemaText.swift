// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The schema as a device's or a server's file keeps it, so that a later version knows what its rows are made of.
package enum SchemaText {
  package static func encode(_ schema: Schema) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(schema), as: UTF8.self)
  }

  /// Nil for a text that is no schema.
  package static func decode(_ text: String) -> Schema? {
    try? JSONDecoder().decode(Schema.self, from: Data(text.utf8))
  }
}
