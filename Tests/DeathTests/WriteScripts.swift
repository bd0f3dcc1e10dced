// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerryStore
import SkerryTestSupport
import SkerryTesting

extension Script {
  /// What a device does with its own writes.
  static let writes = [
    write, offer, takeVerdicts, takeNewIdentity, discardUnsent, discardSent, replace, acknowledge, setAside,
  ]

  private static let write = Script("writes of several operations", .device("ana"), transactions: 2) { world in
    [
      {
        try world.write("ana", 1) { write in
          try write.update(.item("i2"), ["a": "zwei", "b": "due"])
          try write.insert("note", ["id": "n2", "a": "new", "parent": "i2"])
          try write.update(.doc("d1"), ["a": "second draft"])
          try write.delete(.note("n1"))
        }
      },
      // The second meets rows that the first left pending.
      {
        try world.write("ana", 2) { write in
          try write.delete(.note("n2"))
          try write.increment(.item("i2"), "n", by: 5)
        }
      },
    ]
  }

  private static let offer = Script("handing writes to the transport", .device("ana"), transactions: 2) { world in
    for bit in 1...2 { try world.write("ana", bit) }
  } steps: { world in
    let ids = try world.store("ana").outbox().map(\.id)
    return [
      { _ = try world.store("ana").offer([ids[0]]) },
      { _ = try world.store("ana").offer(ids) },
    ]
  }

  /// Answers are kept in memory only, so nothing of this reaches the file.
  private static let takeVerdicts = Script("taking verdicts", .device("ana"), transactions: 0) { world in
    for bit in 1...3 { try world.write("ana", bit) { try $0.update(.doc("d1"), ["a": .text("draft \(bit)")]) } }
    try world.commitForeign("UPDATE doc SET a = 'theirs'")
    let ids = try world.store("ana").outbox().map(\.id)
    _ = try world.push("ana", [ids[0], ids[1]])
  } steps: { world in
    let ids = try world.store("ana").outbox().map(\.id)
    return [
      {
        try world.store("ana").take([.settled(ids[0], .conflicted), .settled(ids[1], .conflicted), .notYet(ids[2])])
      },
      { try world.store("ana").take([.busy(ids[2])]) },
    ]
  }

  /// The device's file was restored from before its first write, which the server has judged: number 1 is given twice.
  private static let takeNewIdentity = Script(
    "taking a new identity", .device("ana"), transactions: 1, isCopied: true
  ) { world in
    world.shutDown()
    let older = FileImage(of: world.disk)
    try world.write("ana", 1)
    _ = try world.push("ana")
    world.shutDown()
    older.only("ana.db").put(onto: world.disk)
    for bit in 2...3 { try world.write("ana", bit) }
  } steps: { world in
    let verdicts = try world.push("ana")
    guard case .identityReused = verdicts.first else { throw WorldError("the server took \(verdicts)") }
    return [{ try world.store("ana").take(verdicts) }]
  }

  private static let discardUnsent = Script("discarding what was never sent", .device("ana"), transactions: 1) {
    for bit in 1...3 { try $0.write("ana", bit) { try $0.update(.item("i2"), ["a": .text("\(bit)")]) } }
  } steps: { world in
    let id = try world.store("ana").outbox()[1].id
    return [
      {
        world.ledger.mayVanish.insert(id)
        try world.store("ana").discard(id)
        world.ledger.mustVanish.insert(id)
      }
    ]
  }

  private static let discardSent = Script("discarding what the server has judged", .device("ana"), transactions: 1) {
    for bit in 1...2 { try $0.write("ana", bit) { try $0.update(.item("i2"), ["a": .text("\(bit)")]) } }
    _ = try $0.push("ana")
  } steps: { world in
    let id = try world.store("ana").outbox()[0].id
    return [
      {
        world.ledger.mayVanish.insert(id)
        try world.store("ana").discard(id)
      }
    ]
  }

  private static let replace = Script("editing an entry in place", .device("ana"), transactions: 1) {
    for bit in 1...2 { try $0.write("ana", bit) { try $0.update(.item("i2"), ["a": .text("\(bit)")]) } }
  } steps: { world in
    let last = try world.store("ana").outbox()[1]
    let id = world.ambient.makeMutationID()
    return [
      {
        let operations = last.operations.map { operation in
          guard case .set = operation.action else { return operation }
          return Operation(operation.key, operation.incarnation, .set([Field("b", "edited")], base: nil))
        }
        world.ledger.edits[last.id] = id
        try world.store("ana").replace(last.id, with: operations, newID: id)
      }
    ]
  }

  private static let acknowledge = Script(
    "acknowledging a refusal and a loss", .device("ana"), transactions: 2
  ) { world in
    try world.write("ana", 1) { try $0.update(.item("i4"), ["a": "mine"]) }
    try world.commitForeign("DELETE FROM member WHERE id = 'm4'")
    try world.round("ana")
  } steps: { world in
    guard let id = try world.store("ana").rejections().first?.id, let space = try world.store("ana").lostSpaces().first
    else { throw WorldError("nothing was refused or lost") }
    return [
      {
        world.ledger.seen.insert(id)
        try world.store("ana").acknowledge(id)
      }, { try world.store("ana").acknowledgeLoss(of: space) },
    ]
  }

  private static let setAside = Script("setting an entry aside and taking it up", .device("ana"), transactions: 3) {
    for bit in 1...2 { try $0.write("ana", bit) }
  } steps: { world in
    let id = try world.store("ana").outbox()[0].id
    return [
      { try world.store("ana").noteFailure(id, "the server answered 500") },
      { try world.store("ana").setAside(id) },
      { try world.store("ana").retry(id) },
    ]
  }
}
