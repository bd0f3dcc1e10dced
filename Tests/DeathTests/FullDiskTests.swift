// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

/// The disk is full: no file may grow, or only by so much, and SQLite rolls back.
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
  func `F-D01 a file that cannot grow stays as it is, and all goes on when there is room again`(_ script: Script) throws
  {
    let world = try Recording.of(script).start.wakened(script, seed: 4)
    let steps = try script.steps(world)
    let before = try world.dump(script.file)
    let fresh = try Memory(world.store("ana"))
    var (room, failures) = (0, 0)
    while true {
      world.disk.setFreeBytes(room, on: script.victim.machine)
      let result = Result { for step in steps { try step() } }
      guard case .failure(let error) = result else { break }
      #expect((error as? SQLiteError)?.code == 13, "\(error)")
      #expect(try world.dump(script.file) == before)
      #expect(try Memory(world.store("ana")) == fresh || script.victim == .server)
      (room, failures) = (room + 1_000, failures + 1)
    }
    #expect(failures > 3)
    world.disk.setFreeBytes(nil, on: script.victim.machine)
    try world.settle()
    #expect(try WorldAudit.faultsAtRest(world) == [])
  }
}
