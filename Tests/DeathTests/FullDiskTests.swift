// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

/// The disk is really full: the file may not grow, or only by so many pages, and SQLite itself says so and rolls back.
@Suite struct FullDiskTests {
  private static let long = String(repeating: "long ", count: 4_000)

  private static let write = Script("a long write", .device("ana"), transactions: 1) { world in
    [{ try world.write("ana", 1) { try $0.update(.item("i2"), ["a": .text(long), "b": .text(long)]) } }]
  }

  private static let page = Script("a long page", .device("ana"), transactions: 1) { world in
    try world.write("ana", 1) { try $0.update(.item("i2"), ["b": "mine"]) }
    try world.commitForeign("UPDATE item SET a = '\(long)' WHERE id IN ('i1', 'i2')")
  } steps: { world in
    let pulled = try world.ask("ana")
    return [{ try world.take(pulled, "ana") }]
  }

  private static let push = Script("a long push", .server, transactions: 1) { world in
    try world.write("ana", 1) { try $0.update(.item("i2"), ["a": .text(long)]) }
    try world.write("ana", 2) { try $0.update(.item("i1"), ["a": .text(long)]) }
  } steps: { world in
    [{ try world.store("ana").take(try world.push("ana")) }]
  }

  @Test(arguments: [write, page, push])
  func `a file that cannot grow stays as it is, and all goes on when there is room again`(_ script: Script) throws {
    let world = try Recording.of(script).start.wakened(script, seed: 4)
    let steps = try script.steps(world)
    let before = try world.dump(script.file)
    let fresh = try Memory(opening: "ana", of: world)
    var room: Int64 = 0
    while true {
      try world.withConnection(of: script.victim) { connection in
        let pages = try connection.first("PRAGMA page_count") { $0.integer(0) } ?? 0
        try connection.execute("PRAGMA max_page_count = \(pages + room)")
      }
      let result = Result { for step in steps { try step() } }
      guard case .failure(let error) = result else { break }
      #expect((error as? SQLiteError)?.code == 13, "\(error)")
      #expect(try world.dump(script.file) == before)
      #expect(try Memory(world.store("ana")) == fresh || script.victim == .server)
      room += 1
    }
    #expect(room > 3)
    try world.withConnection(of: script.victim) { try $0.execute("PRAGMA max_page_count = 1000000") }
    try world.settle()
    #expect(try WorldAudit.faultsAtRest(world) == [])
  }
}
