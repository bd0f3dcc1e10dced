// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

/// FAULTS.md, section 2.5: what becomes of the server and of the data that others share.
@Suite struct ServerStories {
  // MARK: Histories

  /// A coast with two devices that hold what is in the backup, and things that happened after it.
  private func coast() throws -> Coast {
    let coast = try Coast()
    try coast.open("a")
    try coast.open("b")
    for id in ["kept", "edited"] {
      try coast.write("a") { try $0.insert("item", ["id": .text(id), "home": "user:ana"]) }
    }
    try coast.settle()
    try coast.server.markSafe(upTo: coast.backUp())
    try coast.settle()
    return coast
  }

  @Test func `F-S01 B65 after a restore that is announced, all read anew, and nothing unsent is lost`() throws {
    let coast = try coast()
    try coast.write("b") { try $0.insert("item", ["id": "lost", "home": "user:ana", "n": 1]) }
    try coast.settle()
    try coast.write("a") { try $0.update(Story.item("edited"), ["a": "unsent"]) }
    try coast.write("a") { try $0.update(Story.item("lost"), ["a": "unsent too"]) }
    try coast.restore(announcedAs: "second life")
    for name in ["b", "a", "b"] { try coast.sync(name) }
    expectAgreement(coast)
    #expect(
      try coast.rows("a", "SELECT id, a, n FROM item ORDER BY id") == [
        "edited unsent 0", "kept - 0", "lost unsent too 1",
      ])
  }

  @Test func `F-S02 a tail that was lost in silence is noticed by every device that held some of it`() throws {
    let coast = try coast()
    try coast.write("b") { try $0.insert("item", ["id": "tail", "home": "user:ana"]) }
    try coast.settle()
    try coast.restore(announcedAs: nil)
    // Other things happen at the same positions, so that no number tells the histories apart.
    for number in 0..<4 { try coast.foreign.execute("INSERT INTO item(id, home) VALUES ('x\(number)', 'user:ana')") }
    try coast.server.sequence()
    expectAgreement(coast)
    #expect(
      try coast.rows("a", "SELECT id FROM item ORDER BY id") == ["edited", "kept", "tail", "x0", "x1", "x2", "x3"])
  }

  @Test(arguments: [nil, "second life"])
  func `F-S03 what was acknowledged in the lost tail is offered again and has one effect`(_ epoch: String?) throws {
    let coast = try coast()
    for amount: Int64 in [1, 10, 100] { try coast.write("a") { try $0.increment(Story.item("kept"), "n", by: amount) } }
    try coast.settle()
    #expect(try coast.store("a").outboxCount() == 0)
    try coast.restore(announcedAs: epoch)
    try coast.foreign.execute("UPDATE item SET n = n + 1000 WHERE id = 'kept'")
    // The screen never loses the user's own numbers on the way.
    for _ in 0..<3 {
      try coast.sync("a")
      #expect(try coast.rows("a", "SELECT n % 1000 FROM item WHERE id = 'kept'") == ["111"])
    }
    expectAgreement(coast)
    #expect(try coast.rows("b", "SELECT n FROM item WHERE id = 'kept'") == ["1111"])
  }

  @Test func `what was written between a backup and its mark is offered again after a restore`() throws {
    let coast = try Coast()
    try coast.open("a")
    try coast.sync("a")
    let held = try coast.backUp()
    try coast.write("a") { try $0.insert("item", ["id": "i", "home": "user:ana"]) }
    try coast.sync("a")
    try coast.server.markSafe(upTo: held)
    try coast.sync("a")
    try coast.restore(announcedAs: "second")
    expectAgreement(coast)
    #expect(try coast.rows("a", "SELECT id FROM item") == ["i"])
    #expect(try Coast.text(coast.foreign, "SELECT id FROM item") == ["i"])
  }

  @Test func `the safe mark never passes the head, and never goes back`() throws {
    let coast = try coast()
    let head = try coast.server.history().head
    #expect(try coast.server.history().safe == head)
    try coast.server.markSafe(upTo: .max)
    #expect(try coast.server.history().safe == head)
    try coast.server.markSafe(upTo: 1)
    #expect(try coast.server.history().safe == head)
  }

  @Test func `F-S04 B10 a device that was off for a year repeats a push without a second effect`() throws {
    let story = try Story()
    try story.insert("a", "i", ["n": 3])
    try story.add("a", "i", 4)
    let push = try #require(try story.ask("a"))
    _ = try story.serve(push, "a")
    story.world.ambient.advance(by: 366 * 86_400_000)
    try story.sync("b")
    try story.world.server.expire(upTo: story.world.server.history().head)
    try story.world.kill("a")
    story.end()
    #expect(try story.server() == ["i - 7"])
  }

  @Test func `F-S05 B23 deletions that are pruned between any two pages are not missed`() throws {
    for cut in 0..<5 {
      let story = try Story()
      for number in 0..<14 { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(10 + number)', 'user:ana')") }
      try story.sync("a", "b")
      try story.set("b", "i12", ["a": "unsent"])
      try story.foreign("DELETE FROM item WHERE id > 'i12'")
      try story.foreign("UPDATE item SET a = 'new' WHERE id < 'i12'")
      var pages = 0
      try story.round("b") { exchange in
        if !exchange.isPush {
          if pages == cut { try story.world.server.expire(upTo: story.world.server.history().head) }
          pages += 1
        }
        return try story.serve(exchange, "b")
      }
      story.end()
      #expect(try story.screen("b") == ["i10 new 0", "i11 new 0", "i12 unsent 0"], "pruned before page \(cut)")
    }
  }

  @Test(arguments: [1, 3])
  func `F-S06 nodes that share a database share everything that correctness needs`(_ nodes: Int) throws {
    let coast = try Coast(nodes: nodes)
    try coast.open("a")
    try coast.open("b")
    try coast.open("c", user: "ben")
    try coast.foreign.execute("INSERT INTO team(id) VALUES ('t')")
    for (id, user) in [("1", "ana"), ("2", "ben")] {
      try coast.foreign.execute("INSERT INTO member(id, team, user) VALUES ('\(id)', 't', '\(user)')")
    }
    try coast.settle()
    for round in 0..<3 {
      for name in ["a", "b", "c"] {
        try coast.write(name) { write in
          try write.insert("item", ["id": .text("\(name)\(round)"), "home": "team:t", "n": 1])
          if try write.row(Story.item("a0")) != nil { try write.increment(Story.item("a0"), "n") }
        }
        try coast.sync(name)
      }
    }
    try coast.foreign.execute("DELETE FROM member WHERE user = 'ben'")
    expectAgreement(coast)
    #expect(try coast.rows("c", "SELECT count(*) FROM item") == ["0"])
    #expect(try Coast.text(coast.foreign, "SELECT count(*) FROM item") == ["9"])
    // One to begin with, three of the first device, and two of each that has it from the second round on.
    #expect(try coast.rows("a", "SELECT n FROM item WHERE id = 'a0'") == ["8"])
  }

  @Test func `F-S08 B42 a transaction that commits late is seen whole by the next pull, and never skipped`() throws {
    let story = try Story()
    try story.foreign("INSERT INTO item(id, home) VALUES ('i', 'user:ana')")
    try story.world.foreign.execute("BEGIN IMMEDIATE")
    try story.world.foreign.execute("INSERT INTO item(id, home) VALUES ('late', 'user:ana')")
    try story.world.foreign.execute("UPDATE item SET a = 'late'")
    try story.insert("b", "j")
    for _ in 0..<3 {
      try story.round("a", limit: 4) { try story.serve($0, "a") }
      try story.round("b", limit: 4) { try story.serve($0, "b") }
      #expect(try story.screen("a", "SELECT count(*) FROM item WHERE a = 'late'") == ["0"])
    }
    #expect(try story.store("b").outboxCount() == 1, "a database that is busy is no refusal")
    try story.world.foreign.execute("COMMIT")
    story.end()
    #expect(try story.screen("a") == ["i late 0", "j - 0", "late late 0"])
  }

  @Test func `F-S22 a hint that comes before the commit costs a round and nothing else`() throws {
    let story = try Story()
    try story.world.foreign.execute("BEGIN IMMEDIATE")
    try story.world.foreign.execute("INSERT INTO item(id, home) VALUES ('i', 'user:ana')")
    try story.round("a", limit: 4) { try story.serve($0, "a") }
    #expect(try story.screen("a").isEmpty)
    try story.world.foreign.execute("COMMIT")
    // No other hint comes: the interval alone brings it.
    story.world.ambient.advance(by: 120_000)
    guard case .exchange(let exchange) = try story.device("a").session.next() else {
      return #expect(Bool(false), "the device does not ask again")
    }
    try story.hear("a", try story.serve(exchange, "a"), exchange)
    story.end()
    #expect(try story.screen("a") == ["i - 0"])
  }

  @Test func `F-S17 B66 one large transaction shows whole or not at all, however small the pages`() throws {
    let story = try Story()
    for number in 0..<25 {
      try story.foreign("INSERT INTO item(id, home, a) VALUES ('i\(10 + number)', 'user:ana', '0')")
    }
    try story.sync("a")
    for token in 1...2 {
      try story.foreign("UPDATE item SET a = '\(token)'")
      try story.round("a") { exchange in
        #expect(try story.screen("a", "SELECT DISTINCT a FROM item").count == 1)
        return try story.serve(exchange, "a")
      }
      #expect(try story.screen("a", "SELECT DISTINCT a FROM item") == ["\(token)"])
    }
    story.end()
  }

  // MARK: Refusals

  @Test func `F-S24 F-N14 B06 one refusal takes only its dependents along`() throws {
    let story = try Story()
    try story.foreign("INSERT INTO item(id, home) VALUES ('taken', 'user:ben')")
    for number in 1...10 { try story.insert("a", number == 3 ? "taken" : "i\(number)", ["a": "mine"]) }
    try story.write("a") { try $0.insert("note", ["id": "n", "parent": "taken"]) }
    try story.set("a", "i4", ["a": "two"])
    story.end()
    #expect(try story.server("SELECT count(*) FROM item WHERE home = 'user:ana'") == ["9"])
    #expect(try story.refusals("a") == ["exists", "forbidden"])
    let refusal = try #require(try story.store("a").rejections().first)
    #expect(refusal.operations.first?.fields.contains(Field("a", "mine")) == true)
    #expect(refusal.reason?.contains("mine") == false)
  }

  @Test func `F-S26 two devices that create the same row: one is told, and can send it under another key`() throws {
    let story = try Story()
    try story.insert("a", "i", ["a": "from a"])
    try story.insert("b", "i", ["a": "from b"])
    story.end()
    #expect(try story.server() == ["i from a 0"])
    #expect(try story.refusals("b") == ["exists"])
    let refusal = try #require(try story.store("b").rejections().first)
    let kept = try #require(refusal.operations.first?.fields.first { $0.column == "a" })
    try story.insert("b", "i 2", [kept.column: kept.value])
    try story.store("b").acknowledge(refusal.id)
    story.end()
    #expect(try story.server() == ["i from a 0", "i 2 from b 0"])
  }

  @Test func `F-S27 a child that is made while its parent goes is refused with its values, on either order`() throws {
    let story = try Story()
    for id in ["first", "last"] { try story.insert("a", id) }
    try story.sync("a", "b")
    for id in ["first", "last"] {
      try story.write("b") { try $0.insert("note", ["id": .text(id), "parent": .text(id), "a": "mine"]) }
      try story.delete("a", id)
      if id == "first" { try story.sync("a", "b") } else { try story.sync("b", "a") }
    }
    story.end()
    #expect(try story.server("SELECT id FROM item").isEmpty)
    #expect(try story.refusals("b") == ["forbidden"])
    #expect(try story.screen("b", "SELECT id FROM note").isEmpty, "the other note is in no space and belongs to nobody")
  }
}
