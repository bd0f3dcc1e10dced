// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerryServerCore
import SkerryStore
import SkerryTesting

extension Script {
  /// What a device does with pages and resets.
  static let pages = [
    page, receipts, held, long, gain, loss, leaves, history, expired, session,
  ]

  /// A page that is there already, and is taken in by one step.
  private static func whole(
    _ name: String, transactions: Int = 1, _ prepare: @escaping @Sendable (MortalWorld) throws -> Void
  ) -> Script {
    Script(name, .device("ana"), transactions: transactions, prepare: prepare) { world in
      let pulled = try world.ask("ana")
      return [{ try world.take(pulled, "ana") }]
    }
  }

  /// Small pages, each asked for when the one before is in.
  private static func many(
    _ name: String, transactions: Int, limit: Int, bound: Int64 = 5_000,
    _ prepare: @escaping @Sendable (MortalWorld) throws -> Void
  ) -> Script {
    Script(name, .device("ana"), transactions: transactions, bound: bound, prepare: prepare) { world in
      [{ try world.catchUp("ana", limit: limit) }]
    }
  }

  /// Others change rows that Ana's unsent and unanswered writes touch.
  private static let page = whole("a page that is published at once") { world in
    try world.write("ana", 1) { try $0.update(.item("i2"), ["a": "mine"]) }
    _ = try world.push("ana")
    try world.write("ana", 2, isMarked: false) { try $0.update(.item("i2"), ["b": "later"]) }
    try world.commitForeign(
      "UPDATE item SET a = 'theirs', n = n + 7 WHERE id = 'i2'", "INSERT INTO item(id, home) VALUES ('i9', 'team:t1')",
      "DELETE FROM doc")
  }

  private static let receipts = whole("receipts of each outcome") { world in
    try world.write("ana", 1)
    try world.write("ana", 2, isMarked: false) { try $0.update(.doc("d1"), ["a": "stale"]) }
    try world.write("ana", 3, isMarked: false) { try $0.update(.note("n1"), ["a": "gone"]) }
    let void = try world.write("ana", 4, isMarked: false)
    world.ledger.mayVanish.insert(void)
    try world.store("ana").discard(void)
    world.ledger.mustVanish.insert(void)
    try world.commitForeign("UPDATE doc SET a = 'theirs'", "DELETE FROM note")
    let verdicts = try world.push("ana")
    guard verdicts.count == 4 else { throw WorldError("four verdicts expected, \(verdicts)") }
    try world.store("ana").take(verdicts)
  }

  private static func changeMuch(_ world: MortalWorld) throws {
    try world.write("ana", 1, isMarked: false) { try $0.update(.item("i2"), ["a": "mine"]) }
    _ = try world.push("ana")
    try world.write("ana", 2) { try $0.update(.note("n1"), ["b": "mine"]) }
    try world.commitForeign(
      "UPDATE item SET n = n + 8 WHERE id = 'i2'", "UPDATE note SET a = 'theirs'",
      "INSERT INTO item(id, home) VALUES ('i9', 'team:t1')")
  }

  private static let held = many(
    "pages that are kept aside until they are whole", transactions: 3, limit: 2, changeMuch)

  private static let long = many(
    "a long catch-up with pending writes", transactions: 3, limit: 2, bound: 1, changeMuch)

  private static let gain = many("a space that is gained", transactions: 3, limit: 2) { world in
    try world.write("ana", 1, isMarked: false)
    try world.commitForeign(
      "INSERT INTO member(id, team, user) VALUES ('m6', 't2', 'ana')",
      "UPDATE item SET also = 'team:t2' WHERE id = 'i2'")
  }

  private static let loss = whole("a space that is lost, with pending writes in it") { world in
    try world.write("ana", 1, isMarked: false) { write in
      try write.update(.item("i4"), ["a": "mine"])
      try write.update(.item("i1"), ["a": "mine"])
    }
    try world.commitForeign("DELETE FROM member WHERE id = 'm4'", "UPDATE item SET b = 'theirs' WHERE id = 'i1'")
  }

  private static let leaves = whole("rows that leave, stay in another space, or are deleted") { world in
    try world.write("ana", 1, isMarked: false) { try $0.update(.item("i2"), ["a": "mine"]) }
    try world.commitForeign(
      "UPDATE item SET home = 'team:t2' WHERE id IN ('i1', 'i2')", "UPDATE note SET parent = 'i3' WHERE id = 'n1'",
      "DELETE FROM item WHERE id = 'i4'")
  }

  /// Of few rows, one write is in the archive, and one was never sent.
  private static func write(_ world: MortalWorld) throws {
    try world.commitForeign(
      "DELETE FROM note", "DELETE FROM item WHERE id = 'i4'", "DELETE FROM member WHERE user = 'bob'")
    try world.write("ana", 1, isMarked: false) { try $0.update(.item("i2"), ["a": "archived"]) }
    try world.round("ana")
    try world.write("ana", 2, isMarked: false) { try $0.update(.item("i2"), ["b": "unsent"]) }
  }

  private static let history = many("a refill in another history", transactions: 4, limit: 3) { world in
    try write(world)
    try world.server.beginEpoch("second")
  }

  /// What was deleted below the floor is seen only by the sweep at the end.
  private static let expired = many(
    "a refill of an expired replica, published page by page", transactions: 4, limit: 2, bound: 1
  ) { world in
    try write(world)
    try world.commitForeign(
      "DELETE FROM doc", "DELETE FROM member WHERE id = 'm4'", "UPDATE item SET also = NULL WHERE id = 'i1'")
    try world.server.sequence()
    try world.server.expire(upTo: .max)
  }

  /// Offers, verdicts, pages and receipts as the engine's session orders them.
  private static let session = Script("a whole round of a session", .device("ana"), transactions: nil) { world in
    for bit in 1...2 { try world.write("ana", bit, isMarked: false) }
    try world.commitForeign("UPDATE item SET a = 'theirs' WHERE id = 'i2'")
  } steps: { world in
    [{ try world.round("ana") }]
  }
}
