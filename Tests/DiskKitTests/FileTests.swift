// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerrySQLiteKit
import Testing

/// What the disk's owner sees of its files, and does to them.
@Suite struct FileTests {
  private let desk = Desk()

  @Test func `a text that was written is found in the file that holds it, until it is overwritten`() throws {
    let canary = Array("canary-4711".utf8)
    let connection = try desk.openTable("one")
    try connection.execute("PRAGMA secure_delete = ON")
    try connection.run("INSERT INTO t VALUES (1, ?)", .text("a canary-4711 b"))
    #expect(desk.disk.contains(canary, on: Desk.machine) == ["a.db-wal"])
    try connection.checkpoint(truncating: false)
    #expect(desk.disk.contains(canary, on: Desk.machine) == ["a.db", "a.db-wal"])
    try connection.run("DELETE FROM t")
    try connection.checkpoint(truncating: true)
    #expect(desk.disk.contains(canary, on: Desk.machine) == [])
    #expect(desk.disk.contains(canary, on: "other") == [])
  }

  @Test func `bytes are found at the edges of a file, and not where they only begin`() {
    desk.disk.setBytes([1, 2, 3, 1, 2, 4], of: "f", on: Desk.machine)
    for needle in [[1], [1, 2, 3], [3, 1], [2, 4], [1, 2, 4], [1, 2, 3, 1, 2, 4]] as [[UInt8]] {
      #expect(desk.disk.contains(needle, on: Desk.machine) == ["f"], "\(needle)")
    }
    for needle in [[5], [4, 1], [1, 2, 5], [1, 2, 3, 1, 2, 4, 5]] as [[UInt8]] {
      #expect(desk.disk.contains(needle, on: Desk.machine) == [], "\(needle)")
    }
  }

  @Test func `a copy has the WAL with it, and goes its own way`() throws {
    let connection = try desk.openTable("one")
    try Desk.insert(1, connection)
    desk.disk.copy(from: Desk.machine, "a.db", to: "other", "b.db")
    #expect(desk.disk.files(on: "other") == ["b.db", "b.db-wal"])
    let copied = try desk.openTable("two", file: "b.db", on: "other")
    try Desk.insert(2, copied)
    #expect(try Desk.ids(copied) == [1, 2])
    #expect(try Desk.ids(connection) == [1])
    desk.disk.cutPower(of: "other")
    #expect(try Desk.ids(desk.open("three", file: "b.db", on: "other")) == [1, 2])
  }

  @Test func `damage is seen by who has the file open`() throws {
    let connection = try desk.openTable("one")
    for id in 1...50 { try Desk.insert(id, connection) }
    try connection.checkpoint(truncating: true)
    var bytes = try #require(desk.disk.bytes(of: "a.db", on: Desk.machine))
    #expect(bytes.starts(with: Array("SQLite format 3".utf8)))
    for index in 4_096..<bytes.count { bytes[index] = 0xA5 }
    desk.disk.setBytes(bytes, of: "a.db", on: Desk.machine)
    let error = #expect(throws: SQLiteError.self) { try Desk.ids(desk.open("two", .reader)) }
    #expect(error?.isDamage == true)
  }

  @Test func `files are named, and gone when they are taken away`() throws {
    let connection = try desk.openTable("one")
    #expect(desk.disk.files(on: Desk.machine) == ["a.db", "a.db-wal"])
    #expect(desk.disk.bytes(of: "none", on: Desk.machine) == nil)
    try withExtendedLifetime(connection) { try Desk.insert(1, connection) }
    desk.disk.setBytes(nil, of: "a.db-wal", on: Desk.machine)
    #expect(desk.disk.files(on: Desk.machine) == ["a.db"])
  }

  @Test func `a large result goes through files without a name, which nobody sees`() throws {
    let connection = try desk.openTable("one")
    try connection.execute("PRAGMA cache_size = 2; PRAGMA temp_store = FILE")
    for id in 1...200 { try Desk.insert(id, connection) }
    try connection.execute("CREATE TEMP TABLE u AS SELECT a || id AS b FROM t ORDER BY b DESC")
    #expect(try connection.first("SELECT count(*) FROM u") { $0.integer(0) } == 200)
    #expect(desk.disk.files(on: Desk.machine) == ["a.db", "a.db-wal"])
  }
}
