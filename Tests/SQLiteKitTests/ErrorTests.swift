// SPDX-License-Identifier: Apache-2.0

import SkerrySQLiteKit
import SkerryTestSupport
import Testing

/// What an error tells, and what it must not tell.
@Suite struct ErrorTests {
  private let folder: TemporaryFolder
  private let connection: SQLiteConnection

  init() throws {
    folder = try TemporaryFolder()
    connection = try SQLiteConnection(path: folder.path("a.db"), mode: .writer, busyTimeout: 0)
    try connection.execute(
      """
      CREATE TABLE t(id TEXT PRIMARY KEY, n INTEGER NOT NULL CHECK (n > 0), u TEXT UNIQUE) STRICT;
      INSERT INTO t VALUES ('secret-1', 1, 'secret-2')
      """)
  }

  /// Extended codes by https://www.sqlite.org/rescode.html.
  private static let violations: [(String, [SQLiteValue], Int32)] = [
    ("INSERT INTO t VALUES (?, 2, NULL)", ["secret-1"], 1555),
    ("INSERT INTO t VALUES (?, 2, ?)", ["secret-3", "secret-2"], 2067),
    ("INSERT INTO t VALUES (?, ?, NULL)", ["secret-3", nil], 1299),
    ("INSERT INTO t VALUES (?, ?, NULL)", ["secret-3", -5], 275),
    ("INSERT INTO t VALUES (?, ?, NULL)", ["secret-3", "secret-4"], 3091),
  ]

  @Test(arguments: violations)
  func `a constraint's error has the extended code and the statement, and no value`(
    _ sql: String, _ values: [SQLiteValue], _ code: Int32
  ) throws {
    let error = #expect(throws: SQLiteError.self) { try connection.statement(sql).run(values) }
    #expect(error?.extendedCode == code)
    #expect(error?.code == 19)
    #expect(error?.isConstraint == true)
    #expect(error?.isBusy == false)
    #expect(error?.isRetryable == false)
    #expect(error?.sql == sql)
    let text = error?.description ?? ""
    #expect(text.contains(sql))
    #expect(!text.contains("secret") && !text.contains("-5"))
  }

  @Test func `an error of a query has the statement and no value either`() throws {
    let error = #expect(throws: SQLiteError.self) {
      try connection.query("SELECT abs(?) + json(?)", .integer(.min), "secret-5") { $0.value(0) }
    }
    #expect(error?.sql == "SELECT abs(?) + json(?)")
    #expect(error?.description.contains("secret") == false)
    #expect(error?.description.contains("9223372036854775808") == false)
  }

  @Test func `a statement that cannot be prepared is named`() throws {
    let error = #expect(throws: SQLiteError.self) { try connection.run("SELEKT 1") }
    #expect(error?.code == 1)
    #expect(error?.sql == "SELEKT 1")
    #expect(error?.message.contains("syntax error") == true)
  }

  @Test func `a lock that another connection holds is reported as busy, at once when nobody is to wait`() throws {
    let other = try SQLiteConnection(path: folder.path("a.db"), mode: .writer, busyTimeout: 0)
    try connection.transaction(.immediate) {
      try connection.run("UPDATE t SET n = 2")
      let error = #expect(throws: SQLiteError.self) { try other.transaction(.immediate) {} }
      #expect(error?.isBusy == true)
      #expect(error?.isRetryable == true)
      #expect(error?.code == 5)
      #expect(!other.isInTransaction)
    }
    try other.transaction(.immediate) { _ = try other.run("UPDATE t SET n = n + 1") }
    #expect(try connection.first("SELECT n FROM t") { $0.integer(0) } == 3)
  }

  @Test func `a snapshot that is too old to write is busy with its own extended code`() throws {
    let other = try SQLiteConnection(path: folder.path("a.db"), mode: .writer, busyTimeout: 0)
    let error = #expect(throws: SQLiteError.self) {
      try other.transaction(.deferred) {
        _ = try other.first("SELECT n FROM t") { $0.integer(0) }
        try connection.run("UPDATE t SET n = 2")
        try other.run("UPDATE t SET n = 3")
      }
    }
    #expect(error?.extendedCode == 517)
    #expect(error?.isBusy == true)
    #expect(try connection.first("SELECT n FROM t") { $0.integer(0) } == 2)
  }

  @Test func `errors are equal when they say the same`() throws {
    let first = #expect(throws: SQLiteError.self) { try connection.run("SELEKT 1") }
    let second = #expect(throws: SQLiteError.self) { try connection.run("SELEKT 1") }
    #expect(first == second)
  }
}
