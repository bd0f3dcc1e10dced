// SPDX-License-Identifier: Apache-2.0

/// The header fields of a request, in the order in which they came, duplicates included.
package struct HTTPHeaders: Hashable, Sendable {
  /// One field line.
  package struct Field: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package private(set) var fields: [Field] = []

  package init(_ fields: [Field] = []) { self.fields = fields }

  /// The first value of a name, letters of either case; nil if the field is missing.
  package subscript(name: String) -> String? { fields.first { HTTPHeaders.equal($0.name, name) }?.value }

  /// All values of a name, letters of either case. More than one where one is expected is a reason to refuse.
  package func values(_ name: String) -> [String] {
    fields.filter { HTTPHeaders.equal($0.name, name) }.map(\.value)
  }

  package mutating func append(_ name: String, _ value: String) { fields.append(Field(name, value)) }

  /// Names are ASCII and compared byte by byte: Swift's `==` would also equate a KELVIN SIGN with a K.
  static func equal(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && zip(one.utf8, other.utf8).allSatisfy { lower($0) == lower($1) }
  }

  private static func lower(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }
}
