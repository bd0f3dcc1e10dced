// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import SkerryWire
import Testing

/// Pushes that are applied in part, and many in a row.
extension LostUpdateCases {
  /// Three new rows in one push, one of which is called `c2`.
  private func story(_ trigger: String) throws -> Story {
    let story = try Story()
    try story.foreign("CREATE TRIGGER app_rule BEFORE INSERT ON item WHEN \(trigger); END")
    for id in ["c1", "c2", "c3"] {
      try story.insert("a", id, ["a": .text(String(repeating: "x", count: id == "c2" ? 81 : 80))])
    }
    return story
  }

  @Test func `B06 of three rows in one push the one that breaks a rule of the server is refused alone, with a reason`()
    throws
  {
    let story = try story("length(NEW.a) > 80 BEGIN SELECT RAISE(ABORT, 'the name is too long')")
    var traffic = Traffic()
    try story.round("a", counting: &traffic)
    #expect(traffic.pushes == 1)
    story.end()
    #expect(try story.server("SELECT id FROM item ORDER BY id") == ["c1", "c3"])
    let refused = try story.store("a").rejections()
    #expect(refused.map(\.code) == [.constraint])
    #expect(refused.first?.reason?.contains("the name is too long") == true)
    #expect(refused.flatMap(\.operations).map(\.key) == [Story.item("c2")])
  }

  @Test func `B06 when the server's transaction dies after the first row, it holds none, and all come again`() throws {
    let story = try story("NEW.id = 'c2' BEGIN SELECT RAISE(ROLLBACK, 'gone')")
    let push = try #require(try story.ask("a"))
    let answer = try story.serve(push, "a")
    #expect(answer.status == 500)
    #expect(try story.server().isEmpty)
    #expect(try story.server("SELECT count(*) FROM skerry_receipts") == ["0"])
    try story.hear("a", answer, push)
    #expect(try story.store("a").outboxCount() == 3)
    try story.foreign("DROP TRIGGER app_rule")
    story.end()
    #expect(try story.server("SELECT count(*) FROM item") == ["3"])
    #expect(try story.refusals("a").isEmpty)
  }

  @Test func `B06 a row that another changed meanwhile is in conflict alone, and what the answer leaves out waits`()
    throws
  {
    let story = try Story()
    for id in ["c1", "c2", "c3"] {
      try story.write("a") { try $0.insert("doc", ["id": .text(id), "home": "user:ana"]) }
    }
    try story.sync("a")
    try story.foreign("UPDATE doc SET b = 'theirs' WHERE id = 'c2'")
    let ids = try ["c1", "c2", "c3"].map { id in
      try story.write("a") { try $0.update(RowKey("doc", .text(id)), ["a": "mine"]) }
    }
    let push = try #require(try story.ask("a"))
    let codec = JSONCodec(catalog: story.world.catalog)
    var answer = try story.serve(push, "a")
    let verdicts = try codec.decodePushAnswer(answer.body).verdicts
    #expect(
      verdicts == [.settled(ids[0], .confirmed), .settled(ids[1], .conflicted), .settled(ids[2], .confirmed)])
    var partial = PushAnswer(verdicts: [verdicts[0]])
    partial.request = push.name
    answer.body = codec.encode(partial)
    try story.hear("a", answer, push)
    #expect(try story.store("a").ready(limit: 9) == [ids[1], ids[2]], "clean is only what the answer names")
    story.end()
    #expect(try story.store("a").rejections().map(\.id) == [ids[1]])
    #expect(try story.server("SELECT id, a, b FROM doc ORDER BY id") == ["c1 mine -", "c2 - theirs", "c3 mine -"])
  }

  @Test func `B07 fast edits on a slow line never go back on any screen, and end at the last in two pushes`() throws {
    let story = try Story([:])
    try story.world.open("a", user: "ana", policy: TimingPolicy(batch: 100, page: 100))
    try story.world.open("b", user: "ana")
    try story.insert("a", "i", ["a": ""])
    try story.sync("a", "b")
    var flying: SyncSession.Exchange?
    var pushes = 0
    var seen: [String] = []
    for letter in ["A", "B", "C", "D", "E"] {
      try story.set("a", "i", ["a": .text(letter)])
      #expect(try story.screen("a", "SELECT a FROM item") == [letter])
      if flying == nil { flying = try story.ask("a") }
    }
    while let exchange = flying {
      pushes += exchange.isPush ? 1 : 0
      try story.hear("a", try story.serve(exchange, "a"), exchange)
      #expect(try story.screen("a", "SELECT a FROM item") == ["E"])
      // Without letting time pass: the round must end.
      try story.world.sync("b")
      seen += try story.screen("b", "SELECT a FROM item")
      guard case .exchange(let next) = try story.device("a").session.next() else { break }
      flying = next
    }
    story.end()
    #expect(pushes == 2)
    #expect(seen == seen.sorted())
    #expect(seen.last == "E")
  }
}
