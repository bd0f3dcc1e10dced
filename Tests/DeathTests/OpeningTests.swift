// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import Testing

/// Files that are opened for the first time, and files that cannot be opened for a while.
@Suite struct OpeningTests {
  private static let newDevice = Script("a new device", .device("ana"), transactions: nil) { world in
    for file in ["ana.db", "ana.db-wal"] { world.disk.setBytes(nil, of: file, on: "ana") }
  } steps: { world in
    [{ try world.round("ana") }, { try world.write("ana", 1) }]
  }

  /// The app's own tables and rows, from before Skerry.
  private static let adoption = Script("an adopted database", .server, transactions: nil) { world in
    for machine in MortalWorld.machines {
      for file in world.disk.files(on: machine) { world.disk.setBytes(nil, of: file, on: machine) }
    }
    try world.foreign().execute(
      """
      CREATE TABLE member(id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT, n INTEGER NOT NULL DEFAULT 0, team TEXT, user TEXT);
      CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT, n INTEGER NOT NULL DEFAULT 0, home TEXT, also TEXT);
      INSERT INTO member(id, team, user) VALUES ('m1', 't1', 'ana'), ('m2', 't1', 'bob');
      INSERT INTO item(id, home) VALUES ('tally', 'team:t1'), ('i1', 'team:t1');
      """)
  } steps: { world in
    [
      { _ = try world.server },
      { try world.commitForeign("INSERT INTO item(id, home) VALUES ('i2', 'team:t1')", "UPDATE item SET a = 'new'") },
    ]
  }

  @Test(arguments: [newDevice, adoption])
  func `F-D14 a file whose first opening is cut off, names and all, is opened anew, and what was written first stays`(
    _ script: Script
  ) throws {
    let sweep = try DiskSweep(script)
    for (index, fault) in [DiskSweep.Fault.powerLoss(0), .powerLoss(1), .death].enumerated() {
      try sweep.run(fault, from: index + 1, every: 8)
    }
    #expect(sweep.faults.list == [])
    #expect(sweep.runs > 15)
  }

  /// As on a phone that is locked: no call on the files passes, and nobody is to conclude anything from it.
  @Test(arguments: [14, 23, 3, 10] as [Int32])
  func `F-D12 a file that cannot be opened for a while is told as just that, and is as before afterwards`(
    _ code: Int32
  ) throws {
    let base = try Recording.base.get()
    let world = try MortalWorld(base.image.restored(), seed: 4)
    world.ledger = base.ledger
    try world.write("ana", 1)
    world.bury(.device("ana"))
    let image = FileImage(of: world.disk)
    let process = world.label("ana")
    world.disk.plan(.error(code, isLasting: true), for: process, atCall: 1)
    for _ in 0..<3 {
      let error = #expect(throws: SQLiteError.self) { try world.store("ana") }
      #expect(error?.code == code)
    }
    #expect(FileImage(of: world.disk) == image)
    world.disk.clearPlan(for: process)
    #expect(try world.store("ana").outboxCount() == 1)
    #expect(world.goOn(isCopied: false) == [])
  }

  /// It is what SQLite says of an error at a commit: nobody knows (https://www.sqlite.org/lang_transaction.html, section 3).
  @Test func `a write that fails at its last call may be there after a restart, whole and once`() throws {
    let base = try Recording.base.get()
    let world = try MortalWorld(base.image.restored(), seed: 4)
    world.ledger = base.ledger
    let store = try world.store("ana")
    try world.write("ana", 1)
    world.disk.plan(.error(1_034, isLasting: false), for: world.label("ana"), atCall: 1)
    #expect(throws: SQLiteError.self) { try world.write("ana", 2) }
    #expect(try store.outboxCount() == 1)
    world.bury(.device("ana"))
    #expect(try world.store("ana").outboxCount() == 2)
    #expect(try WorldAudit.faults(world) == [])
    #expect(world.goOn(isCopied: false) == [])
  }

  @Test func `a write that fails at its last call is gone for good once another one is done`() throws {
    let base = try Recording.base.get()
    let world = try MortalWorld(base.image.restored(), seed: 4)
    world.ledger = base.ledger
    let first = try world.write("ana", 1)
    world.disk.plan(.error(1_034, isLasting: false), for: world.label("ana"), atCall: 1)
    #expect(throws: SQLiteError.self) { try world.write("ana", 2) }
    let last = try world.write("ana", 3)
    world.disk.cutPower(of: "ana")
    world.buryDead()
    #expect(try world.store("ana").outbox().map(\.id) == [first, last])
    #expect(world.goOn(isCopied: false) == [])
  }

  /// Not the profile of Skerry, but what is left of it is whole all the same.
  @Test func `F-D05 pages that a power loss takes without syncs take their cursor along`() throws {
    var (regressed, cycles) = (0, 0)
    let base = try Recording.base.get()
    for seed in 0..<12 {
      let world = try MortalWorld(base.image.restored(seed: UInt64(seed)), seed: 4)
      world.ledger = base.ledger
      try world.store("ana").withConnection { try $0.execute("PRAGMA synchronous = NORMAL") }
      for step in 0..<4 {
        try world.commitForeign("UPDATE item SET a = '\(step)' WHERE id IN ('i1', 'i2')")
        try world.round("ana")
      }
      let cursor = try #require(world.store("ana").cursor)
      world.disk.cutPower(of: "ana")
      world.buryDead()
      #expect(try WorldAudit.faults(world) == [])
      let found = try #require(world.store("ana").cursor)
      if found.position < cursor.position { regressed += 1 }
      try world.settle()
      #expect(try WorldAudit.faultsAtRest(world) == [])
      cycles += 1
    }
    #expect(regressed > 2, "of \(cycles)")
  }
}
