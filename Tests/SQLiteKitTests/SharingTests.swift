// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SkerrySQLiteKit
import SkerryTestSupport
import Synchronization
import Testing

/// One writer and several readers of a file, used from many threads.
@Suite struct SharingTests {
  private struct Refused: Error {}

  private let folder: TemporaryFolder
  private let path: String
  private let writer: GuardedWriter

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("a.db")
    writer = try GuardedWriter(path: path)
    try writer.withConnection { try $0.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER) STRICT") }
  }

  private func insert(_ id: Int64) throws {
    try writer.withConnection { _ = try $0.run("INSERT INTO t VALUES (?, 0)", .integer(id)) }
  }

  private static func count(_ connection: SQLiteConnection) throws -> Int64? {
    try connection.first("SELECT count(*) FROM t") { $0.integer(0) }
  }

  @Test func `a read is one snapshot beside the writer, who does not wait for it`() throws {
    let pool = ReaderPool(path: path)
    try insert(1)
    try pool.read { connection in
      #expect(try SharingTests.count(connection) == 1)
      try insert(2)
      #expect(try SharingTests.count(connection) == 1)
    }
    #expect(try pool.read(SharingTests.count) == 2)
  }

  @Test func `a read does not wait for a transaction that is open`() throws {
    let pool = ReaderPool(path: path, busyTimeout: 0)
    try insert(1)
    try writer.withConnection { connection in
      try connection.transaction(.immediate) {
        try connection.run("DELETE FROM t")
        #expect(try pool.read(SharingTests.count) == 1)
      }
    }
    #expect(try pool.read(SharingTests.count) == 0)
  }

  @Test func `a reader never writes, whatever it is given`() throws {
    let pool = ReaderPool(path: path)
    for sql in ["INSERT INTO t VALUES (9, 9)", "CREATE TABLE other(id)", "PRAGMA user_version = 7"] {
      let error = #expect(throws: SQLiteError.self) {
        try pool.read { connection in
          try connection.execute("PRAGMA query_only = OFF")
          try connection.execute(sql)
        }
      }
      #expect(error?.code == 8, "\(sql)")
    }
    #expect(try pool.read(SharingTests.count) == 0)
  }

  @Test func `a closure that throws gives its connection back`() throws {
    let pool = ReaderPool(path: path, size: 1)
    for _ in 0..<3 { #expect(throws: Refused.self) { try pool.read { _ in throw Refused() } } }
    #expect(try pool.read(SharingTests.count) == 0)
  }

  @Test func `a connection whose transaction the closure ended itself is not handed on broken`() throws {
    let pool = ReaderPool(path: path, size: 1)
    #expect(throws: SQLiteError.self) { try pool.read { try $0.execute("COMMIT") } }
    #expect(try pool.read { $0.isInTransaction })
    #expect(try pool.read(SharingTests.count) == 0)
  }

  @Test func `a file that cannot be opened takes no place in the pool`() throws {
    let pool = ReaderPool(path: folder.path("later.db"), size: 1)
    for _ in 0..<2 { #expect(throws: SQLiteError.self) { try pool.read(SharingTests.count) } }
    let late = try SQLiteConnection(path: folder.path("later.db"), mode: .writer)
    try late.execute("CREATE TABLE t(id)")
    #expect(try pool.read(SharingTests.count) == 0)
  }

  @Test func `idle connections can be closed, and are opened again when needed`() throws {
    let pool = ReaderPool(path: path, size: 2)
    try insert(1)
    #expect(try pool.read(SharingTests.count) == 1)
    pool.closeIdle()
    #expect(try pool.read(SharingTests.count) == 1)
  }

  @Test func `the writer is used by one thread at a time`() throws {
    try insert(1)
    let failures = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<10 {
        do {
          try writer.withConnection { connection in
            // Two statements and no transaction: an update between them would be lost.
            let n = try connection.first("SELECT n FROM t") { $0.integer(0) } ?? 0
            try connection.run("UPDATE t SET n = ?", .integer(n + 1))
          }
        } catch { failures.withLock { $0 += 1 } }
      }
    }
    #expect(failures.withLock { $0 } == 0)
    #expect(try writer.withConnection { try $0.first("SELECT n FROM t") { $0.integer(0) } } == 80)
  }

  @Test func `more readers than connections wait for their turn, and all are served`() async throws {
    let pool = ReaderPool(path: path, size: 2)
    try insert(1)
    let counts = try await withThrowingTaskGroup(of: Int64?.self) { group in
      for _ in 0..<24 { group.addTask { try await pool.readAsync { try SharingTests.count($0) } } }
      return try await group.reduce(into: [Int64?]()) { $0.append($1) }
    }
    #expect(counts == Array(repeating: 1, count: 24))
  }
}
