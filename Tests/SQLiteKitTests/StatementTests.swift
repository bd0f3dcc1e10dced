// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerrySQLiteKit
import SkerryTestSupport
import Testing

/// The statement cache, and what a wrong use of a statement gives.
@Suite struct StatementTests {
  private struct Enough: Error {}

  private let folder: TemporaryFolder
  private let connection: SQLiteConnection

  init() throws {
    folder = try TemporaryFolder()
    connection = try SQLiteConnection(path: folder.path("a.db"), mode: .writer, busyTimeout: 0)
    try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT) STRICT")
    for id in 1...3 { try connection.run("INSERT INTO t VALUES (?, 'w')", .integer(Int64(id))) }
  }

  private static let misuse: Int32 = 21

  @Test func `a text is prepared once`() throws {
    let first = try connection.statement("SELECT id FROM t WHERE id = ?")
    #expect(try connection.statement("SELECT id FROM t WHERE id = ?") === first)
    #expect(try connection.statement("SELECT word FROM t WHERE id = ?") !== first)
  }

  @Test func `a statement knows its text, its columns and whether it only reads`() throws {
    let reading = try connection.statement("SELECT id, word AS term FROM t")
    #expect(reading.sql == "SELECT id, word AS term FROM t")
    #expect(reading.columnNames == ["id", "term"])
    #expect(reading.isReadOnly)
    #expect(try !connection.statement("DELETE FROM t WHERE id = 9").isReadOnly)
  }

  @Test(arguments: [[], [.integer(1)], [.integer(1), .integer(2), .integer(3)]] as [[SQLiteValue]])
  func `another number of values than placeholders is a misuse that says both numbers`(_ values: [SQLiteValue]) throws {
    let statement = try connection.statement("SELECT id FROM t WHERE id = ? OR id = ?")
    let error = #expect(throws: SQLiteError.self) { try statement.query(values) { $0.integer(0) } }
    #expect(error?.code == StatementTests.misuse)
    #expect(error?.message == "2 values wanted, \(values.count) given")
    #expect(try statement.query([1, 2]) { $0.integer(0) } == [1, 2])
  }

  @Test func `a statement that is run again by its own row closure is a misuse, and the outer run goes on`() throws {
    let sql = "SELECT id FROM t WHERE id > ? ORDER BY id"
    var refusals = 0
    let ids = try connection.query(sql, 0) { row in
      do { _ = try connection.query(sql, 1) { $0.integer(0) } } catch let error as SQLiteError {
        #expect(error.code == StatementTests.misuse)
        refusals += 1
      }
      return row.integer(0)
    }
    #expect(ids == [1, 2, 3])
    #expect(refusals == 3)
  }

  @Test func `a row closure may run other statements`() throws {
    let words = try connection.query("SELECT id FROM t ORDER BY id") { row in
      try connection.first("SELECT word || id FROM t WHERE id = ?", .integer(row.integer(0))) { $0.text(0) } ?? ""
    }
    #expect(words == ["w1", "w2", "w3"])
  }

  @Test func `a row closure that throws ends the run, and the statement can be used again`() throws {
    let sql = "SELECT id FROM t ORDER BY id"
    #expect(throws: Enough.self) { try connection.query(sql) { _ in throw Enough() } }
    #expect(try connection.query(sql) { $0.integer(0) } == [1, 2, 3])
    #expect(throws: Enough.self) { try connection.first(sql) { _ in throw Enough() } }
    #expect(try connection.first(sql) { $0.integer(0) } == 1)
  }

  @Test func `a statement that failed can be used again, without the values of before`() throws {
    let insert = try connection.statement("INSERT INTO t VALUES (?, ?)")
    #expect(throws: SQLiteError.self) { try insert.run([1, "again"]) }
    try insert.run([4, nil])
    #expect(try connection.first("SELECT word FROM t WHERE id = 4") { $0.isNull(0) } == true)
  }

  @Test(arguments: ["SELECT 1; SELECT 2", "SELECT 1; x", "", "  ", "-- nothing", "SELECT 1;\u{0}"])
  func `a text that is not one statement is a misuse`(_ sql: String) throws {
    let error = #expect(throws: SQLiteError.self) { try connection.statement(sql) }
    #expect(error?.code == StatementTests.misuse)
  }

  @Test(arguments: ["SELECT 1;", "SELECT 1 ;\n\t ", "\nSELECT 1"])
  func `a semicolon and white space around a statement are no second one`(_ sql: String) throws {
    #expect(try connection.first(sql) { $0.integer(0) } == 1)
  }

  @Test func `a refused text leaves no statement behind that would keep the file open`() throws {
    let path = folder.path("b.db")
    do {
      let other = try SQLiteConnection(path: path, mode: .writer)
      try other.execute("CREATE TABLE t(id)")
      #expect(throws: SQLiteError.self) { try other.statement("SELECT id FROM t; SELECT id FROM t") }
      #expect(FileManager.default.fileExists(atPath: path + "-wal"))
    }
    // The last connection to close removes the WAL; one that a statement holds open does not.
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
  }

  @Test func `run gives the number of rows that its own statement changed`() throws {
    #expect(try connection.run("UPDATE t SET word = 'x'") == 3)
    #expect(try connection.run("UPDATE t SET word = 'y' WHERE id = 9") == 0)
    #expect(try connection.run("UPDATE t SET word = 'x'") == 3)
    #expect(try connection.run("SELECT 1") == 0)
    #expect(try connection.run("CREATE TABLE other(id)") == 0)
    #expect(try connection.run("DELETE FROM t WHERE id < 3") == 2)
    #expect(try connection.run("BEGIN IMMEDIATE") == 0)
    #expect(try connection.run("ROLLBACK") == 0)
  }

  @Test func `the first row is nil when there is none, and the last row id is told`() throws {
    #expect(try connection.first("SELECT id FROM t WHERE id = 9") { $0.integer(0) } == nil)
    try connection.run("INSERT INTO t VALUES (41, NULL)")
    #expect(connection.lastInsertedRow == 41)
  }

  @Test func `execute runs several statements, and stops at the first that fails`() throws {
    try connection.execute("DELETE FROM t; INSERT INTO t VALUES (5, 'a'); INSERT INTO t VALUES (6, 'b')")
    #expect(throws: SQLiteError.self) {
      try connection.execute(
        "INSERT INTO t VALUES (7, 'c'); INSERT INTO t VALUES (5, 'd'); INSERT INTO t VALUES (8, 'e')")
    }
    #expect(try connection.query("SELECT id FROM t ORDER BY id") { $0.integer(0) } == [5, 6, 7])
  }

  @Test func `a monitor sees each statement before it runs, and what it throws is thrown`() throws {
    var seen: [String] = []
    connection.monitor = { seen.append($0) }
    try connection.transaction(.immediate) { _ = try connection.run("DELETE FROM t WHERE id = ?", 1) }
    #expect(seen == ["BEGIN IMMEDIATE", "DELETE FROM t WHERE id = ?", "COMMIT"])
    connection.monitor = { _ in throw Enough() }
    #expect(throws: SQLiteError.self) { try connection.run("DELETE FROM t") }
    connection.monitor = nil
    #expect(try connection.query("SELECT id FROM t ORDER BY id") { $0.integer(0) } == [2, 3])
  }
}
