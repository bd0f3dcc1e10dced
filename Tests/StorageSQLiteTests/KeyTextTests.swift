// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryTables
import Testing

/// The text of a key, as a trigger writes it and as this library does: they must be the same bytes.
@Suite struct KeyTextTests {
  private let connection: SQLiteConnection

  init() throws { connection = try SQLiteConnection(path: ":memory:", mode: .writer) }

  private static let values: [Value] = [
    "", "a", "'", "''", "a'b", "'a'", "'\u{301}", "a'\u{301}'\u{301}b", "'\u{200D}", "'\u{FE0F}", "\r\n'", "\u{E9}",
    "e\u{301}",
    "\u{212A}", ",", "','", "NULL", "1", "X'00'", "\u{1F469}\u{200D}\u{1F467}'", .integer(0), .integer(-1),
    .integer(.min),
    .integer(.max), .blob([]), .blob([0]), .blob([39, 44]), .blob(Array(0...255)),
  ]

  @Test(arguments: values) func `a key's text is what quote() writes, and reads back as the same value`(
    _ value: Value
  ) throws {
    let quoted = try connection.first("SELECT quote(?)", value.sqlite) { $0.text(0) } ?? ""
    let text = KeyText.text([value])
    #expect(text.utf8.elementsEqual(quoted.utf8))
    #expect(KeyText.values(text) == [value])
  }

  @Test func `keys of several columns are told apart`() throws {
    var seen: Set<[UInt8]> = []
    for first in KeyTextTests.values {
      for second in KeyTextTests.values {
        let text = KeyText.text([first, second])
        #expect(KeyText.values(text) == [first, second])
        seen.insert(Array(text.utf8))
      }
    }
    #expect(seen.count == KeyTextTests.values.count * KeyTextTests.values.count)
  }

  @Test(arguments: [
    "", "'", "'a", "a'", "''a", "1,", ",1", "X'0'", "X'0G'", "X00", "1.5", "1 ", "NULL", "'a' ", "'a''", "9e9",
  ])
  func `what quote() does not write for a key is no key`(_ text: String) { #expect(KeyText.values(text) == nil) }
}
