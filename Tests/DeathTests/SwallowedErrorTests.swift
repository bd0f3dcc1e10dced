// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTesting
import Testing

/// The closure of a write is the app's own code, and may catch what its steps throw.
@Suite struct SwallowedErrorTests {
  private static let swallowing = Script("a closure that swallows errors", .device("ana"), transactions: 1) { world in
    [
      {
        try world.write("ana", 1, isMarked: false) { write in
          try? write.update(.item("i2"), ["a": "mine"])
          _ = try? write.insert("note", ["id": "n2", "parent": "i2"])
          try? write.delete(.doc("d1"))
        }
      }
    ]
  }

  @Test func `a write fails as a whole if its closure swallows an error of the database`() throws {
    let sweep = try Sweep.failures(SwallowedErrorTests.swallowing, Watch.Fault.allCases)
    #expect(sweep.faults.list == [])
  }

  @Test func `a write fails as a whole if its closure swallows that the disk is full`() throws {
    let world = try Recording.of(SwallowedErrorTests.swallowing).start.wakened(SwallowedErrorTests.swallowing, seed: 4)
    let before = try world.dump("ana.db")
    try world.withConnection(of: .device("ana")) { connection in
      let pages = try connection.first("PRAGMA page_count") { $0.integer(0) } ?? 0
      try connection.execute("PRAGMA max_page_count = \(pages)")
    }
    #expect(throws: SQLiteError.self) {
      try world.write("ana", 1, isMarked: false) { write in
        // SQLite rolls the transaction back here; what follows must not run outside of one.
        try? write.update(.item("i2"), ["a": .text(String(repeating: "long ", count: 10_000))])
        try? write.update(.item("i1"), ["a": "short"])
        try? write.delete(.doc("d1"))
      }
    }
    #expect(try world.dump("ana.db") == before)
    try world.settle()
    #expect(try WorldAudit.faultsAtRest(world) == [])
  }

  @Test func `a refusal that a closure catches leaves nothing of the refused step behind`() throws {
    let base = try Recording.base.get()
    let world = try Moment(image: base.image, ledger: base.ledger).wakened(SwallowedErrorTests.swallowing, seed: 4)
    let id = try world.write("ana", 1) { write in
      do { try write.insert("item", ["id": "i2", "a": "mine"]) } catch let error as StoreError
        where error.code == .exists
      {
        try write.update(.item("i2"), ["a": "mine"])
      }
      try? write.increment(.item("tally"), "n", by: .max)
    }
    #expect(try WorldAudit.faults(world) == [])
    try world.settle()
    #expect(try WorldAudit.faultsAtRest(world) == [])
    #expect(try world.store("ana").rejections().map(\.id) != [id], "the write was refused for a step that was caught")
  }
}
