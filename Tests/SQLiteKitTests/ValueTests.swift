// SPDX-License-Identifier: Apache-2.0

import SkerrySQLiteKit
import Testing

/// Each storage class there and back.
@Suite struct ValueTests {
  private let connection: SQLiteConnection

  init() throws {
    connection = try SQLiteConnection(path: ":memory:", mode: .writer)
    try connection.execute("CREATE TABLE t(v)")
  }

  private static let values: [SQLiteValue] = [
    .null, .integer(0), .integer(.min), .integer(.max), .real(0.1), .real(.greatestFiniteMagnitude),
    .real(.leastNonzeroMagnitude), .real(.infinity), .real(-.infinity), .text(""), .text("a"), .text("a\u{0}b"),
    .text("\u{0}"), .text("Ångström"), .text("A\u{30A}ngstro\u{308}m"), .text("\u{212A}"), .text("👩‍👩‍👧"),
    .text(String(repeating: "x", count: 100_000)), .blob([]), .blob([0]), .blob([0, 255, 0, 1]),
    .blob(Array(repeating: 0, count: 100_000)),
  ]

  @Test(arguments: values) func `every value comes back as it went in`(_ value: SQLiteValue) throws {
    try connection.run("INSERT INTO t VALUES (?)", value)
    #expect(try connection.first("SELECT v FROM t") { $0.value(0) } == value)
    #expect(try connection.first("SELECT v IS ? FROM t", value) { $0.integer(0) } == 1)
  }

  @Test func `empty text, empty bytes and NULL are three things`() throws {
    for value in [.text(""), .blob([]), .null] as [SQLiteValue] {
      try connection.run("INSERT INTO t VALUES (?)", value)
    }
    #expect(try connection.query("SELECT typeof(v) FROM t ORDER BY rowid") { $0.text(0) } == ["text", "blob", "null"])
    #expect(try connection.query("SELECT v FROM t ORDER BY rowid") { $0.isNull(0) } == [false, false, true])
    #expect(SQLiteValue.text("") != .blob([]) && SQLiteValue.text("") != .null && SQLiteValue.blob([]) != .null)
  }

  @Test func `negative zero keeps its sign in a column without a type, and loses it in a REAL one`() throws {
    try connection.execute("CREATE TABLE typed(v REAL) STRICT")
    try connection.run("INSERT INTO t VALUES (?)", .real(-0.0))
    try connection.run("INSERT INTO typed VALUES (?)", .real(-0.0))
    func sign(_ sql: String) throws -> FloatingPointSign? {
      let value = try connection.first(sql) { $0.value(0) }
      guard case .real(let number) = value else { return nil }
      return number.sign
    }
    #expect(try sign("SELECT v FROM t") == .minus)
    #expect(try sign("SELECT v FROM typed") == .plus)
  }

  @Test func `a value that is not a number is stored as NULL`() throws {
    try connection.run("INSERT INTO t VALUES (?)", .real(.nan))
    #expect(try connection.first("SELECT v FROM t") { $0.isNull(0) } == true)
  }

  @Test func `texts are compared by their bytes and classes are never mixed`() {
    #expect(SQLiteValue.text("\u{E9}") != .text("e\u{301}"))
    #expect(SQLiteValue.text("\u{212A}") != .text("K"))
    #expect(SQLiteValue.text("a") == .text("a"))
    #expect(SQLiteValue.integer(1) != .real(1))
    #expect(SQLiteValue.text("1") != .integer(1))
  }

  @Test func `a column is converted by the rules of SQLite, and NULL is 0, empty text and no bytes`() throws {
    try connection.run("INSERT INTO t VALUES ('12x'), (7), (NULL)")
    #expect(try connection.query("SELECT v FROM t ORDER BY rowid") { $0.integer(0) } == [12, 7, 0])
    #expect(try connection.query("SELECT v FROM t ORDER BY rowid") { $0.text(0) } == ["12x", "7", ""])
    #expect(try connection.query("SELECT v FROM t WHERE v IS NULL") { $0.blob(0) } == [[]])
    #expect(try connection.first("SELECT 1, 2, 3") { $0.count } == 3)
  }

  @Test func `text that is not UTF-8 is repaired when it is read`() throws {
    let text = try connection.first("SELECT CAST(x'61ff62' AS TEXT)") { $0.text(0) }
    #expect(text == "a\u{FFFD}b")
  }

  @Test func `a value is written as a literal of Swift`() throws {
    try connection.run("INSERT INTO t VALUES (?)", 5)
    try connection.run("INSERT INTO t VALUES (?)", "five")
    try connection.run("INSERT INTO t VALUES (?)", nil)
    let values = try connection.query("SELECT v FROM t ORDER BY rowid") { $0.value(0) }
    #expect(values == [.integer(5), .text("five"), .null])
  }
}
