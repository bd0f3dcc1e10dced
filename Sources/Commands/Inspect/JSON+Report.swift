// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryWire

/// How reports are written as JSON: members in byte order of their names, so that two reports can be compared as text.
extension JSON {
  static func sorted(_ members: KeyValuePairs<String, JSON>) -> JSON { sorted(members.map { Member($0, $1) }) }

  static func sorted(_ members: [Member]) -> JSON {
    .object(members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
  }

  /// A text; null for nil.
  static func orNull(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

  /// A number; null for nil.
  static func orNull(_ number: Int64?) -> JSON { number.map { .integer($0) } ?? .null }

  static func each<Items: Sequence>(_ items: Items, _ make: (Items.Element) -> JSON) -> JSON { .array(items.map(make)) }

  static func texts(_ items: some Sequence<any ByteText>) -> JSON { each(items) { .string($0.text) } }

  static func key(_ key: RowKey) -> JSON { sorted(["table": .string(key.table), "key": each(key.values, \.json)]) }

  /// The object with one more member.
  func with(_ name: String, _ value: JSON) -> JSON {
    guard case .object(let members) = self else { return self }
    return JSON.sorted(members + [Member(name, value)])
  }

  var asText: String { String(decoding: encoded, as: UTF8.self) }
}
