// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerrySQLiteKit
import SkerryTestSupport
import Testing

/// How a file is opened: durability, defence, and who may write.
@Suite struct ConnectionTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("a.db")
  }

  private func pragma(_ name: String, _ connection: SQLiteConnection) throws -> String? {
    try connection.first("PRAGMA \(name)") { $0.text(0) }
  }

  @Test(arguments: [
    ("journal_mode", "wal"), ("synchronous", "2"), ("fullfsync", "1"), ("checkpoint_fullfsync", "1"),
    ("wal_autocheckpoint", "1000"), ("foreign_keys", "0"), ("trusted_schema", "0"), ("mmap_size", "0"),
    ("query_only", "0"), ("busy_timeout", "1234"), ("locking_mode", "normal"), ("recursive_triggers", "0"),
  ])
  func `a writer has the pragmas that durability and defence need`(_ name: String, _ value: String) throws {
    let connection = try SQLiteConnection(path: path, mode: .writer, busyTimeout: 1234)
    #expect(try pragma(name, connection) == value)
  }

  @Test(arguments: [
    ("journal_mode", "wal"), ("query_only", "1"), ("trusted_schema", "0"), ("mmap_size", "0"), ("busy_timeout", "5000"),
  ])
  func `a reader has the pragmas of one that never writes`(_ name: String, _ value: String) throws {
    let writer = try SQLiteConnection(path: path, mode: .writer)
    try writer.execute("CREATE TABLE t(id)")
    #expect(try pragma(name, SQLiteConnection(path: path, mode: .reader)) == value)
  }

  @Test func `a file in another journal mode is taken to WAL`() throws {
    do {
      let old = try SQLiteConnection(path: path, mode: .writer)
      try old.execute("PRAGMA journal_mode = DELETE; CREATE TABLE t(id); INSERT INTO t VALUES (1)")
    }
    let connection = try SQLiteConnection(path: path, mode: .writer)
    #expect(try pragma("journal_mode", connection) == "wal")
    #expect(try connection.first("SELECT id FROM t") { $0.integer(0) } == 1)
  }

  @Test func `a writer makes a file that is missing, a reader does not`() throws {
    let error = #expect(throws: SQLiteError.self) { try SQLiteConnection(path: path, mode: .reader) }
    #expect(error?.code == 14)
    #expect(!FileManager.default.fileExists(atPath: path))
    _ = try SQLiteConnection(path: path, mode: .writer)
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func `a file that is said not to change is read without a lock and without files beside it`() throws {
    // Characters that an address takes for its own.
    let odd = path + "?mode=rwc #1 100%41"
    do {
      let writer = try SQLiteConnection(path: odd, mode: .writer)
      try writer.execute("CREATE TABLE t(id); INSERT INTO t VALUES (1)")
      try writer.checkpoint(truncating: true)
    }
    let connection = try SQLiteConnection(path: odd, mode: .immutable)
    #expect(try connection.first("SELECT id FROM t") { $0.integer(0) } == 1)
    #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO t VALUES (2)") }
    for suffix in ["-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: odd + suffix)) }
    #expect(throws: SQLiteError.self) { try SQLiteConnection(path: path + "missing", mode: .immutable) }
  }

  @Test func `a file that is no database is refused and not changed`() throws {
    let content = Data(String(repeating: "this is a letter to a friend\n", count: 200).utf8)
    try content.write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: SQLiteError.self) { try SQLiteConnection(path: path, mode: .writer) }
    #expect(error?.code == 26)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
  }

  @Test func `a database in memory can be written`() throws {
    let connection = try SQLiteConnection(path: ":memory:", mode: .writer)
    try connection.execute("CREATE TABLE t(id); INSERT INTO t VALUES (1)")
    #expect(try connection.first("SELECT count(*) FROM t") { $0.integer(0) } == 1)
  }

  @Test func `no SQL can write the file's own structures`() throws {
    let connection = try SQLiteConnection(path: path, mode: .writer)
    try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT)")
    try connection.execute("PRAGMA writable_schema = ON")
    #expect(throws: SQLiteError.self) { try connection.run("UPDATE sqlite_schema SET sql = 'gone'") }
    #expect(throws: SQLiteError.self) { try connection.run("DELETE FROM sqlite_schema") }
    try connection.execute("PRAGMA journal_mode = OFF")
    #expect(try pragma("journal_mode", connection) == "wal")
    #expect(try connection.first("SELECT count(*) FROM sqlite_schema WHERE name = 't'") { $0.integer(0) } == 1)
  }

  @Test func `the data version tells of others' commits and not of one's own`() throws {
    let connection = try SQLiteConnection(path: path, mode: .writer)
    let other = try SQLiteConnection(path: path, mode: .writer)
    try connection.execute("CREATE TABLE t(id)")
    let before = try connection.dataVersion()
    try connection.run("INSERT INTO t VALUES (1)")
    #expect(try connection.dataVersion() == before)
    try other.transaction(.immediate) {
      try other.run("INSERT INTO t VALUES (2)")
      #expect(try connection.dataVersion() == before)
    }
    #expect(try connection.dataVersion() != before)
  }

  @Test func `a checkpoint moves the WAL's content into the file`() throws {
    let connection = try SQLiteConnection(path: path, mode: .writer)
    try connection.execute("CREATE TABLE t(id)")
    for id in 0..<50 { try connection.run("INSERT INTO t VALUES (?)", .integer(Int64(id))) }
    func walSize() throws -> Int {
      try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? -1
    }
    #expect(try walSize() > 0)
    try connection.checkpoint(truncating: false)
    #expect(try walSize() > 0)
    try connection.checkpoint(truncating: true)
    #expect(try walSize() == 0)
    #expect(try connection.first("SELECT count(*) FROM t") { $0.integer(0) } == 50)
  }

  @Test func `a reader that closes last does not checkpoint`() throws {
    var writer: SQLiteConnection? = try SQLiteConnection(path: path, mode: .writer)
    try writer?.execute("CREATE TABLE t(id); INSERT INTO t VALUES (1)")
    var reader: SQLiteConnection? = try SQLiteConnection(path: path, mode: .reader)
    #expect(try reader?.first("SELECT id FROM t") { $0.integer(0) } == 1)
    writer = nil
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    reader = nil
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == size)
    #expect(try SQLiteConnection(path: path, mode: .writer).first("SELECT id FROM t") { $0.integer(0) } == 1)
  }
}
