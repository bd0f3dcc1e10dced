// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerrySQLiteKit
import Testing

/// Connections that share a file of the disk, in one process and in several.
@Suite struct SharingTests {
  private let desk = Desk()

  @Test(arguments: ["one", "two"])
  func `readers see what was committed when they began, beside a writer`(_ process: String) throws {
    let writer = try desk.openTable("one")
    let readers = try (0..<3).map { _ in try desk.open(process, .reader) }
    try Desk.insert(1, writer)
    try readers[0].transaction(.deferred) {
      #expect(try Desk.ids(readers[0]) == [1])
      try Desk.insert(2, writer)
      #expect(try Desk.ids(readers[0]) == [1])
      #expect(try Desk.ids(readers[1]) == [1, 2])
    }
    try writer.transaction(.immediate) {
      try writer.execute("DELETE FROM t")
      #expect(try Desk.ids(readers[2]) == [1, 2])
    }
    #expect(try Desk.ids(readers[2]) == [])
  }

  @Test(arguments: ["one", "two"])
  func `only one writes at a time, and the other is told so`(_ process: String) throws {
    let first = try desk.openTable("one")
    let second = try desk.openTable(process)
    try first.transaction(.immediate) {
      try first.execute("INSERT INTO t VALUES (1, 'x')")
      let error = #expect(throws: SQLiteError.self) { try Desk.insert(2, second) }
      #expect(error?.isBusy == true)
    }
    try Desk.insert(2, second)
    #expect(try Desk.ids(first) == [1, 2])
  }

  @Test func `a reader keeps a checkpoint from taking away what it still reads`() throws {
    let writer = try desk.openTable("one")
    let reader = try desk.open("two", .reader)
    try Desk.insert(1, writer)
    try reader.transaction(.deferred) {
      #expect(try Desk.ids(reader) == [1])
      try Desk.insert(2, writer)
      #expect(try !writer.checkpoint(truncating: true))
      #expect(try Desk.ids(reader) == [1])
    }
    #expect(try writer.checkpoint(truncating: true))
    #expect(desk.disk.bytes(of: "a.db-wal", on: Desk.machine) == [])
    #expect(try Desk.ids(reader) == [1, 2])
  }

  @Test(arguments: ["one", "two"])
  func `a rollback journal goes by the file's own locks`(_ process: String) throws {
    let first = try desk.openTable("one")
    try first.execute("PRAGMA journal_mode = DELETE")
    let second = try desk.open(process, .reader)
    try Desk.insert(1, first)
    try first.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (2, 'x')")
    #expect(try Desk.ids(second) == [1])
    try second.execute("BEGIN; SELECT * FROM t")
    #expect(throws: SQLiteError.self) { try first.execute("COMMIT") }  // it wants to be alone, and waits at pending
    let late = try desk.open("late", .reader)
    #expect(throws: SQLiteError.self) { try Desk.ids(late) }
    try second.execute("COMMIT")
    try first.execute("COMMIT")
    #expect(try Desk.ids(late) == [1, 2])
  }

  @Test func `an exclusive owner shuts the others out`() throws {
    let first = try desk.openTable("one")
    try first.execute("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
    let second = try desk.open("two", .reader)
    let error = #expect(throws: SQLiteError.self) { try Desk.ids(second) }
    #expect(error?.isBusy == true)
    try first.execute("COMMIT")
    #expect(try Desk.ids(second) == [])
  }

  @Test func `machines and disks share nothing`() throws {
    let here = try desk.openTable("one")
    let there = try desk.openTable("one", on: "other")
    let elsewhere = try Desk(seed: 2).openTable("one")
    for (index, connection) in [here, there, elsewhere].enumerated() { try Desk.insert(index, connection) }
    #expect(try Desk.ids(here) == [0])
    #expect(try Desk.ids(there) == [1])
    #expect(try Desk.ids(elsewhere) == [2])
  }

  @Test func `a disk that nobody holds any more serves what is open, and opens nothing`() throws {
    var disk: MemoryDisk? = MemoryDisk()
    let name = disk?.vfsName
    let path = MemoryDisk.path(process: "p", machine: "m", file: "a.db")
    let connection = try SQLiteConnection(path: path, mode: .writer, vfs: name)
    disk = nil
    try connection.execute("CREATE TABLE t(id); INSERT INTO t VALUES (7)")
    #expect(try connection.first("SELECT id FROM t") { $0.integer(0) } == 7)
    #expect(throws: SQLiteError.self) { try SQLiteConnection(path: path, mode: .writer, vfs: name) }
  }

  @Test func `many threads on disks of their own do not meet`() async throws {
    try await withThrowingTaskGroup(of: [Int].self) { group in
      for seed in 0..<8 {
        group.addTask {
          let connection = try Desk(seed: UInt64(seed)).openTable("p")
          for id in 0..<50 { try Desk.insert(id, connection) }
          return try Desk.ids(connection)
        }
      }
      for try await ids in group { #expect(ids == Array(0..<50)) }
    }
  }

  @Test func `the clock is the owner's, and nobody sleeps`() throws {
    var slept = 0
    desk.disk.now = { 1_000_000_000_000 }
    desk.disk.onSleep = { slept += Int($0) }
    let first = try desk.openTable("one")
    #expect(try first.first("SELECT strftime('%s', 'now')") { $0.text(0) } == "1000000000")
    let path = MemoryDisk.path(process: "two", machine: Desk.machine, file: "a.db")
    let second = try SQLiteConnection(path: path, mode: .writer, busyTimeout: 60_000, vfs: desk.disk.vfsName)
    try first.transaction(.immediate) {
      _ = #expect(throws: SQLiteError.self) { try Desk.insert(1, second) }
    }
    #expect(slept > 50_000_000)
  }
}
