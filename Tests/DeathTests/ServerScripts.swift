// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerryServerCore
import SkerryStore
import SkerryTesting

extension Script {
  /// What the server and other programs do with its file.
  static let servers = [batch, settling, sequencing, pull, retention, foreign]

  /// One is a repeat, then come confirmed, conflicted, rejected and void, and one whose predecessor was left out.
  private static let batch = Script("judging a batch", .server, transactions: 1) { world in
    try world.write("ana", 1) { try $0.update(.item("i2"), ["a": "repeated"]) }
    _ = try world.push("ana")
    try world.write("ana", 2) { write in
      try write.update(.item("i1"), ["b": "good"])
      try write.delete(.note("n1"))
    }
    try world.write("ana", 3, isMarked: false) { try $0.update(.doc("d1"), ["a": "stale"]) }
    try world.write("ana", 4, isMarked: false) { try $0.update(.item("i4"), ["a": "gone"]) }
    let void = try world.write("ana", 5, isMarked: false)
    world.ledger.mayVanish.insert(void)
    try world.store("ana").discard(void)
    world.ledger.mustVanish.insert(void)
    for bit in 6...7 { try world.write("ana", bit, isMarked: false) }
    try world.commitForeign("UPDATE doc SET a = 'theirs'", "DELETE FROM item WHERE id = 'i4'")
  } steps: { world in
    let ids = try world.store("ana").outbox().map(\.id)
    return [
      {
        let verdicts = try world.push("ana", Array(ids[..<5]) + [ids[6]])
        let isDeferred = if case .notYet = verdicts.last { true } else { false }
        if !isDeferred, !verdicts.contains(where: { if case .busy = $0 { true } else { false } }) {
          throw WorldError("notYet expected, \(verdicts)")
        }
        try world.store("ana").take(verdicts)
      }
    ]
  }

  private static let settling = Script("settling receipts", .server, transactions: 1) { world in
    try world.write("ana", 1)
    try world.write("ana", 2) { try $0.update(.doc("d1"), ["a": "stale"]) }
    try world.commitForeign("UPDATE doc SET a = 'theirs' WHERE id = 'd1'")
    _ = try world.push("ana")
    try world.catchUp("ana", limit: 100)
  } steps: { world in
    [{ try world.take(world.ask("ana"), "ana") }]
  }

  /// Moves with children, memberships that come and go, deletions, and receipts.
  private static func changeSpaces(_ world: MortalWorld) throws {
    try world.commitForeign(
      "UPDATE item SET home = 'team:t2' WHERE id = 'i1'",
      "INSERT INTO member(id, team, user) VALUES ('m6', 't2', 'ana')",
      "DELETE FROM member WHERE id IN ('m2', 'm4')", "INSERT INTO member(id, team, user) VALUES ('m7', 't1', 'bob')",
      "DELETE FROM doc", "INSERT INTO part(id, parent) VALUES ('p1', 'n1')")
  }

  private static let sequencing = Script("a sequencer run", .server, transactions: 1) { world in
    try world.write("ana", 1) { try $0.update(.item("i2"), ["a": "mine"]) }
    _ = try world.push("ana")
    try changeSpaces(world)
  } steps: { world in
    [{ try world.server.sequence() }]
  }

  private static let pull = Script("a pull, with a foreign write in between", .server, transactions: 2) { world in
    try world.write("ana", 1)
    _ = try world.push("ana")
    try world.catchUp("ana", limit: 100)
    try world.commitForeign("UPDATE item SET a = 'theirs' WHERE id = 'i2'", "DELETE FROM member WHERE id = 'm4'")
  } steps: { world in
    world.beforeTransaction(2) { try world.commitForeign("UPDATE item SET b = 'between'") }
    return [{ try world.take(world.ask("ana"), "ana") }]
  }

  private static let retention = Script("retention, a backup's mark and a new epoch", .server, transactions: 3) {
    world in
    try world.write("ana", 1)
    _ = try world.push("ana")
    try world.commitForeign("DELETE FROM doc", "DELETE FROM member WHERE id = 'm4'")
    try world.server.sequence()
  } steps: { world in
    [
      { try world.server.markSafe(upTo: world.server.history().head) },
      { try world.server.expire(upTo: .max) },
      { try world.server.beginEpoch("second") },
    ]
  }

  /// It knows nothing of Skerry: the triggers are in its own transaction.
  private static let foreign = Script("another program's transaction", .foreign, transactions: 1) { world in
    try world.write("ana", 1)
    _ = try world.push("ana")
  } steps: { world in
    [
      {
        try world.commitForeign(
          "UPDATE item SET n = n + 3 WHERE id = 'i2'", "UPDATE item SET id = 'i5' WHERE id = 'i4'",
          "INSERT OR REPLACE INTO item(id, a, home) VALUES ('i2', 'again', 'team:t1')",
          "DELETE FROM note WHERE id = 'n1'",
          "INSERT INTO note(id, parent) VALUES ('n1', 'i2')", "UPDATE doc SET a = a")
      }
    ]
  }
}
