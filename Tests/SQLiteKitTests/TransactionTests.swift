// SPDX-License-Identifier: Apache-2.0

import SkerrySQLiteKit
import SkerryTestSupport
import Testing

/// What a transaction and a savepoint leave behind, whichever way they end.
@Suite struct TransactionTests {
  private struct Refused: Error {}

  private let folder: TemporaryFolder
  private let connection: SQLiteConnection

  init() throws {
    folder = try TemporaryFolder()
    connection = try SQLiteConnection(path: folder.path("a.db"), mode: .writer, busyTimeout: 0)
    try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT) STRICT")
  }

  private func insert(_ id: Int64) throws { try connection.run("INSERT INTO t(id) VALUES (?)", .integer(id)) }

  private func ids() throws -> [Int64] { try connection.query("SELECT id FROM t ORDER BY id") { $0.integer(0) } }

  @Test func `a transaction commits when its closure returns, and gives its result`() throws {
    let result = try connection.transaction(.immediate) {
      try insert(1)
      try insert(2)
      #expect(connection.isInTransaction)
      return "done"
    }
    #expect(result == "done")
    #expect(!connection.isInTransaction)
    let other = try SQLiteConnection(path: folder.path("a.db"), mode: .reader)
    #expect(try other.query("SELECT id FROM t ORDER BY id") { $0.integer(0) } == [1, 2])
  }

  @Test func `a transaction is rolled back when its closure throws, and the error comes out`() throws {
    #expect(throws: Refused.self) {
      try connection.transaction(.immediate) {
        try insert(1)
        throw Refused()
      }
    }
    #expect(!connection.isInTransaction)
    #expect(try ids().isEmpty)
  }

  @Test func `a transaction within a transaction is refused, and the outer one goes on`() throws {
    try connection.transaction(.immediate) {
      try insert(1)
      do {
        try connection.transaction(.immediate) { try insert(2) }
        Issue.record("a transaction began within another")
      } catch is SQLiteError {}
      #expect(connection.isInTransaction)
      try insert(3)
    }
    #expect(try ids() == [1, 3])
  }

  @Test func `an open transaction is rolled back when its connection goes away`() throws {
    do {
      let other = try SQLiteConnection(path: folder.path("a.db"), mode: .writer, busyTimeout: 0)
      try other.execute("BEGIN IMMEDIATE")
      try other.run("INSERT INTO t(id) VALUES (7)")
    }
    try insert(1)
    #expect(try ids() == [1])
  }

  @Test func `an error by which SQLite has rolled back by itself comes out as it is`() throws {
    try insert(1)
    let error = #expect(throws: SQLiteError.self) {
      try connection.transaction(.immediate) {
        try insert(2)
        try connection.run("INSERT OR ROLLBACK INTO t(id) VALUES (1)")
      }
    }
    #expect(error?.isConstraint == true)
    #expect(!connection.isInTransaction)
    #expect(try ids() == [1])
  }

  @Test func `a commit that fails is rolled back`() throws {
    connection.monitor = { sql in if sql == "COMMIT" { throw Refused() } }
    #expect(throws: SQLiteError.self) { try connection.transaction(.immediate) { try insert(1) } }
    connection.monitor = nil
    #expect(!connection.isInTransaction)
    #expect(try ids().isEmpty)
  }

  @Test func `a savepoint is undone alone`() throws {
    try connection.transaction(.immediate) {
      try insert(1)
      try undone { try insert(2) }
      #expect(connection.isInTransaction)
      let result = try connection.savepoint {
        try insert(3)
        return 3
      }
      #expect(result == 3)
    }
    #expect(try ids() == [1, 3])
  }

  @Test func `savepoints nest, and an outer one takes along what inner ones kept`() throws {
    try connection.transaction(.immediate) {
      try connection.savepoint {
        try insert(1)
        try undone { try connection.savepoint { try insert(2) } }
        try connection.savepoint { try insert(3) }
      }
      try undone { try connection.savepoint { try insert(4) } }
    }
    #expect(try ids() == [1, 3])
  }

  /// A savepoint that does something and is then undone.
  private func undone(_ body: () throws -> Void) throws {
    do {
      try connection.savepoint {
        try body()
        throw Refused()
      }
    } catch is Refused {}
  }

  @Test func `a savepoint whose transaction SQLite has ended gives the error that ended it`() throws {
    try insert(1)
    let error = #expect(throws: SQLiteError.self) {
      try connection.transaction(.immediate) {
        try connection.savepoint { _ = try connection.run("INSERT OR ROLLBACK INTO t(id) VALUES (1)") }
      }
    }
    #expect(error?.isConstraint == true)
    #expect(!connection.isInTransaction)
  }

  @Test func `a deferred transaction is one snapshot`() throws {
    let reader = try SQLiteConnection(path: folder.path("a.db"), mode: .reader, busyTimeout: 0)
    try reader.transaction(.deferred) {
      #expect(try reader.first("SELECT count(*) FROM t") { $0.integer(0) } == 0)
      try insert(1)
      #expect(try reader.first("SELECT count(*) FROM t") { $0.integer(0) } == 0)
    }
    #expect(try reader.first("SELECT count(*) FROM t") { $0.integer(0) } == 1)
  }
}
