// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerrySQLiteKit
import Testing

/// A machine loses power, and what was not synced is lost, kept or torn.
@Suite struct PowerLossTests {
  private struct Outcome {
    var lost = 0
    var broken = 0
    var cycles = 0
  }

  /// One process after the other writes until the power fails at some call.
  private func run(_ cycles: Int, seed: UInt64, synchronous: String, checkpointing: Int) throws -> (Outcome, MemoryDisk)
  {
    let desk = Desk(seed: seed)
    var outcome = Outcome()
    var acknowledged: Set<Int> = []
    var next = 1
    for cycle in 0..<cycles {
      let process = "p\(cycle)"
      let connection = try desk.openTable(process)
      let ids = Set(try Desk.ids(connection))
      if try Desk.integrity(connection) != ["ok"] { outcome.broken += 1 }
      outcome.lost += acknowledged.subtracting(ids).count
      acknowledged = ids
      try connection.execute("PRAGMA synchronous = \(synchronous); PRAGMA wal_autocheckpoint = \(checkpointing)")
      desk.disk.plan(.powerLoss, for: process, atCall: 1 + (cycle * 37) % 150)
      while !desk.disk.isDead(process) {
        next += 1
        do { try Desk.insert(next, connection) } catch is SQLiteError { continue }
        acknowledged.insert(next)
      }
      outcome.cycles += 1
    }
    return (outcome, desk.disk)
  }

  @Test(arguments: [1, 7, 1_000])
  func `what was acknowledged is there after each power loss, and the file is whole`(_ checkpointing: Int) throws {
    let (outcome, disk) = try run(150, seed: 3, synchronous: "FULL", checkpointing: checkpointing)
    #expect(outcome.lost == 0)
    #expect(outcome.broken == 0)
    #expect(disk.figures.powerLosses == 150)
    #expect(disk.figures.droppedWrites > 50 && disk.figures.tornWrites > 10, "\(disk.figures)")
  }

  @Test func `without syncs commits are lost, so the disk can lose them`() throws {
    #expect(try run(60, seed: 4, synchronous: "NORMAL", checkpointing: 1_000).0.lost > 0)
    // Until a file is broken for good.
    let losses = (0..<20).map { seed in
      let result = Result { try run(30, seed: UInt64(seed), synchronous: "OFF", checkpointing: 3).0 }
      return (try? result.get()).map { $0.lost > 0 || $0.broken > 0 } ?? true
    }
    #expect(losses.contains(true))
  }

  /// Opening makes a database, a journal and a WAL, whose names are on the disk only when the directory is.
  @Test func `a first commit that was acknowledged keeps its file, whenever the power fails in the opening`() throws {
    var number = 0
    var (missing, isDone) = (0, false)
    while !isDone {
      number += 1
      for seed in 0..<6 {
        let desk = Desk(seed: UInt64(1_000 * number + seed))
        desk.disk.plan(.powerLoss, for: "one", atCall: number)
        let result = Result { try desk.openTable("one") }
        isDone = !desk.disk.isDead("one")
        if isDone { desk.disk.cutPower(of: Desk.machine) }
        if desk.disk.files(on: Desk.machine).isEmpty { missing += 1 }
        let second = try desk.open("two")
        let tables = try second.query("SELECT name FROM sqlite_schema") { $0.text(0) }
        #expect((try? result.get()) == nil || tables == ["t"])
        #expect(try Desk.integrity(second) == ["ok"])
      }
    }
    #expect(number > 30)
    #expect(missing > 5, "the disk keeps every new name")
  }

  @Test func `the processes of other machines live on`() throws {
    let desk = Desk()
    let here = try desk.openTable("one")
    let there = try desk.openTable("two", on: "other")
    desk.disk.cutPower(of: Desk.machine)
    #expect(desk.disk.isDead("one"))
    #expect(!desk.disk.isDead("two"))
    #expect(throws: SQLiteError.self) { try Desk.ids(here) }
    try Desk.insert(1, there)
    #expect(try Desk.ids(there) == [1])
  }
}
