// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerryServerCore
import SkerryStore
import SkerryTestSupport

extension Script {
  /// What a device does with pages and resets.
  static let pages = [
    page, receipts, held, long, gain, loss, leaves, history, expired, longRefill, session,
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
    try world.write("ana", 2) { try $0.update(.item("i1"), ["b": "later"]) }
    try world.commitForeign(
      "UPDATE item SET a = 'theirs', n = n + 7 WHERE id IN ('i1', 'i2')", "UPDATE note SET a = 'theirs'",
      "INSERT INTO item(id, home) VALUES ('i9', 'team:t1')", "DELETE FROM doc WHERE id = 'd2'")
  }

  private static let receipts = whole("receipts of each outcome") { world in
    try world.write("ana", 1) { try $0.update(.item("i2"), ["b": "good"]) }
    try world.write("ana", 2) { try $0.update(.doc("d1"), ["a": "stale"]) }
    try world.write("ana", 3) { try $0.update(.doc("d2"), ["a": "gone"]) }
    let void = try world.write("ana", 4) { try $0.update(.item("i1"), ["a": "never"]) }
    try world.write("ana", 5)
    world.ledger.mayVanish.insert(void)
    try world.store("ana").discard(void)
    world.ledger.mustVanish.insert(void)
    try world.commitForeign("UPDATE doc SET a = 'theirs' WHERE id = 'd1'", "DELETE FROM doc WHERE id = 'd2'")
    let verdicts = try world.push("ana")
    guard verdicts.count == 5 else { throw WorldError("five verdicts expected, \(verdicts)") }
    try world.store("ana").take(verdicts)
  }

  private static func changeMuch(_ world: MortalWorld) throws {
    try world.write("ana", 1) { try $0.update(.item("i2"), ["a": "mine"]) }
    try world.write("ana", 2) { try $0.update(.item("i1"), ["b": "mine"]) }
    _ = try world.push("ana", [try world.store("ana").outbox()[0].id])
    try world.commitForeign(
      "UPDATE item SET n = n + 8 WHERE home = 'team:t1' AND id <> 'tally'", "UPDATE note SET a = 'theirs'",
      "UPDATE doc SET b = 'theirs'", "DELETE FROM part", "INSERT INTO item(id, home) VALUES ('i9', 'team:t1')")
  }

  private static let held = many(
    "pages that are kept aside until they are whole", transactions: 5, limit: 3, changeMuch)

  private static let long = many(
    "a long catch-up with pending writes", transactions: 5, limit: 3, bound: 1, changeMuch)

  private static let gain = many("a space that is gained", transactions: 4, limit: 2) { world in
    try world.write("ana", 1)
    try world.commitForeign(
      "INSERT INTO member(id, team, user) VALUES ('m6', 't2', 'ana')",
      "UPDATE item SET also = 'team:t2' WHERE id = 'i2'")
  }

  private static let loss = whole("a space that is lost, with pending writes in it") { world in
    try world.write("ana", 1) { try $0.update(.item("i4"), ["a": "mine"]) }
    try world.write("ana", 2) { try $0.update(.item("i1"), ["a": "mine"]) }
    try world.commitForeign("DELETE FROM member WHERE id = 'm4'", "UPDATE item SET b = 'theirs' WHERE id = 'i1'")
  }

  private static let leaves = whole("rows that leave, stay in another space, or are deleted") { world in
    try world.write("ana", 1) { try $0.update(.item("i2"), ["a": "mine"]) }
    try world.commitForeign(
      "UPDATE item SET home = 'team:t2' WHERE id IN ('i1', 'i2')", "UPDATE note SET parent = 'i3' WHERE id = 'n1'",
      "DELETE FROM item WHERE id = 'i4'", "DELETE FROM doc WHERE id = 'd1'")
  }

  /// One write is in the archive, one is on its way, one was never sent.
  private static func write(_ world: MortalWorld) throws {
    try world.write("ana", 1) { try $0.update(.item("i2"), ["a": "archived"]) }
    try world.round("ana")
    try world.write("ana", 2) { try $0.update(.item("i2"), ["b": "judged"]) }
    _ = try world.push("ana")
    try world.write("ana", 3) { try $0.update(.item("i1"), ["b": "unsent"]) }
  }

  private static let history = many("a refill in another history", transactions: 7, limit: 4) { world in
    try write(world)
    try world.server.beginEpoch("second")
  }

  /// What is deleted below the floor is seen only by the sweep at the end.
  private static func expire(_ world: MortalWorld) throws {
    try write(world)
    try world.commitForeign(
      "DELETE FROM doc", "DELETE FROM member WHERE id = 'm4'", "UPDATE item SET also = NULL WHERE id = 'i1'")
    try world.server.sequence()
    try world.server.expire(upTo: .max)
  }

  private static let expired = many("a refill after the cursor expired", transactions: 4, limit: 4, expire)

  private static let longRefill = many(
    "a refill that is published page by page", transactions: 4, limit: 4, bound: 1, expire)

  /// Offers, verdicts, pages and receipts as the engine's session orders them.
  private static let session = Script("a whole round of a session", .device("ana"), transactions: 8) { world in
    try changeMuch(world)
    for bit in 3...5 { try world.write("ana", bit) }
  } steps: { world in
    [{ try world.round("ana") }]
  }
}
