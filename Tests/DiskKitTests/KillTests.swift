// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerrySQLiteKit
import Testing

/// A process dies, and what it had written stays.
@Suite struct KillTests {
  private let desk = Desk()

  @Test func `a dead process can do nothing, and what it wrote is there`() throws {
    let connection = try desk.openTable("one")
    try Desk.insert(1, connection)
    desk.disk.kill(process: "one")
    #expect(desk.disk.isDead("one"))
    let files = desk.disk.files(on: Desk.machine)
    #expect(throws: SQLiteError.self) { try Desk.ids(connection) }
    #expect(throws: SQLiteError.self) { try Desk.insert(2, connection) }
    #expect(throws: SQLiteError.self) { try desk.open("one") }
    #expect(desk.disk.files(on: Desk.machine) == files)
    #expect(try Desk.ids(desk.open("two")) == [1])
  }

  @Test func `the locks of a dead process are free, while its connection still is there`() throws {
    let first = try desk.openTable("one")
    try Desk.insert(1, first)
    try first.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (2, 'x')")
    desk.disk.kill(process: "one")
    let second = try desk.openTable("two")
    #expect(try Desk.ids(second) == [1])
    try Desk.insert(3, second)
    #expect(throws: SQLiteError.self) { try first.execute("COMMIT") }
    #expect(try Desk.ids(second) == [1, 3])
    #expect(try Desk.integrity(second) == ["ok"])
  }

  @Test func `closing a dead connection takes nothing from the living`() throws {
    var first: SQLiteConnection? = try desk.openTable("one")
    let second = try desk.openTable("two")
    try Desk.insert(1, second)
    try first?.execute("BEGIN; SELECT * FROM t")
    desk.disk.kill(process: "one")
    try second.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (2, 'x')")
    first = nil
    let third = try desk.openTable("three")
    #expect(throws: SQLiteError.self) { try Desk.insert(3, third) }
    try second.execute("COMMIT")
    #expect(try Desk.ids(third) == [1, 2])
  }

  @Test func `shared memory goes with the last process, and the WAL is read anew`() throws {
    let first = try desk.openTable("one")
    let other = try desk.open("other", .reader)
    for id in 1...5 { try Desk.insert(id, first) }
    #expect(try Desk.ids(other).count == 5)
    desk.disk.kill(process: "one")
    desk.disk.kill(process: "other")
    #expect(desk.disk.bytes(of: "a.db-wal", on: Desk.machine)?.isEmpty == false)
    #expect(try Desk.ids(desk.open("two")).count == 5)
  }

  @Test func `a process that dies at its n-th call leaves whole transactions, for every n`() throws {
    var number = 0
    var isDone = false
    while !isDone {
      number += 1
      let desk = Desk(seed: UInt64(number))
      let first = try desk.openTable("one")
      try Desk.insert(1, first)
      desk.disk.plan(.death, for: "one", atCall: number)
      let result = Result { for id in 2...3 { try Desk.insert(id, first) } }
      isDone = !desk.disk.isDead("one")
      #expect(isDone == ((try? result.get()) != nil))
      let second = try desk.openTable("two")
      #expect([[1], [1, 2], [1, 2, 3]].contains(try Desk.ids(second)))
      #expect(try Desk.integrity(second) == ["ok"])
    }
    #expect(number > 10)
  }

  @Test func `a file that a process has open outlives its name`() throws {
    let first = try desk.openTable("one")
    try Desk.insert(1, first)
    desk.disk.setBytes(nil, of: "a.db", on: Desk.machine)
    #expect(try Desk.ids(first) == [1])
    #expect(throws: SQLiteError.self) { try desk.open("two", .reader) }
  }
}
