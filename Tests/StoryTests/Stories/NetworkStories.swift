// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

/// FAULTS.md, section 2.1: what a network does to messages.
@Suite struct NetworkStories {
  @Test func `F-N01 B28 a request that never arrives leaves all work pending in its order, and drains by itself`()
    throws
  {
    let story = try Story()
    try story.insert("a", "i")
    try story.add("a", "i", 1)
    try story.insert("a", "j")
    let work = try story.store("a").outbox().map(\.id)
    for _ in 0..<12 {
      let exchange = try #require(try story.ask("a"))
      try story.fail("a", exchange, .unreachable("no route"))
      #expect(try story.store("a").outbox().map(\.id) == work)
      #expect(try story.condition("a") == .unreachable)
    }
    #expect(try story.screen("a") == ["i - 1", "j - 0"])
    #expect(try story.store("a").outbox().allSatisfy { $0.state != .failed })
    story.end()
    #expect(try story.screen("b") == ["i - 1", "j - 0"])
  }

  @Test func `F-N02 B10 a push whose answer is lost has one effect, and the repeat gets the stored verdict`() throws {
    let story = try Story()
    try story.insert("a", "i")
    try story.add("a", "i", 5)
    let push = try #require(try story.ask("a"))
    let first = try story.serve(push, "a")
    try story.foreign("UPDATE item SET n = n + 100, a = 'later'")
    let second = try story.serve(push, "a")
    #expect(first == second)
    #expect(try story.server() == ["i later 105"])
    try story.fail("a", push)
    story.end()
    #expect(try story.screen("a") == ["i later 105"])
  }

  @Test func `F-N03 one request at two nodes at once has one effect`() throws {
    let coast = try Coast(nodes: 2)
    try coast.open("a")
    try coast.write("a") { try $0.insert("item", ["id": "i", "home": "user:ana", "n": 1]) }
    guard case .exchange(let push)? = try coast.devices["a"]?.session.next() else { return #expect(Bool(false)) }
    // While one is in the middle of its transaction, the other must wait or say that it cannot judge.
    try coast.foreign.execute("BEGIN IMMEDIATE")
    let busy = coast.serve(push.request, as: "ana")
    #expect(busy.status == 200 || busy.status == 503)
    #expect(!String(decoding: busy.body, as: UTF8.self).contains("settled"))
    try coast.foreign.execute("COMMIT")
    let answers = [coast.serve(push.request, as: "ana"), coast.serve(push.request, as: "ana")]
    #expect(answers[0] == answers[1])
    #expect(try Coast.text(coast.foreign, "SELECT id, n FROM item") == ["i 1"])
    expectAgreement(coast)
  }

  @Test func `F-N04 a push that arrives hours after its mutations were settled changes nothing`() throws {
    let story = try Story()
    try story.insert("a", "i")
    let zombie = try #require(try story.ask("a"))
    try story.fail("a", zombie)
    try story.sync("a")
    for amount: Int64 in 1...5 {
      try story.add("a", "i", amount)
      try story.sync("a")
    }
    try story.sync("b")
    try story.delete("b", "i")
    try story.sync("b", "a")
    try story.insert("a", "i", ["a": "again"])
    try story.sync("a", "a")
    story.world.ambient.advance(by: 10 * 3_600_000)
    let before = try (story.server(), story.server("SELECT * FROM skerry_receipts ORDER BY mid"))
    let late = try story.serve(zombie, "a")
    #expect(late.status == 200)
    #expect(try story.server() == before.0)
    #expect(try story.server("SELECT * FROM skerry_receipts ORDER BY mid") == before.1)
    try story.hear("a", late, zombie)
    story.end()
  }

  @Test
  func `F-N05 two pushes of one device that arrive the wrong way round wait for each other by lane, and lose nothing`()
    throws
  {
    let story = try Story([:])
    try story.world.open("a", user: "ana", policy: TimingPolicy(batch: 1, page: 4))
    try story.insert("a", "i")
    let create = try #require(try story.ask("a"))
    try story.fail("a", create)
    try story.add("a", "i", 7)
    try story.insert("a", "j")
    // A device of its own making: each of the entries in a message of its own.
    let store = try story.store("a")
    let pushes = try store.outbox().map(\.id).map { id -> TransportRequest in
      let edited = try store.offer([id])
      return try Story.push(edited, from: store)
    }
    #expect(story.verdicts(pushes[1]) == ["notYet"], "an edit before its create")
    #expect(story.verdicts(pushes[2]) == ["settled confirmed"], "another lane goes by")
    #expect(try story.server() == ["j - 0"])
    #expect(story.verdicts(pushes[0]) == ["settled confirmed"])
    #expect(story.verdicts(pushes[1]) == ["settled confirmed"])
    story.end()
    #expect(try story.server() == ["i - 7", "j - 0"])
  }

  @Test func `F-N21 a line on which only requests get through harms nothing`() throws {
    let story = try Story()
    for number in 0..<4 { try story.insert("a", "i\(number)", ["n": 1]) }
    for _ in 0..<8 {
      guard let exchange = try story.ask("a") else { continue }
      _ = try story.serve(exchange, "a")
      try story.fail("a", exchange)
    }
    #expect(try story.store("a").outboxCount() == 4)
    #expect(try story.screen("a").count == 4)
    story.end()
    #expect(try story.server("SELECT count(*), sum(n) FROM item") == ["4 4"])
  }

  @Test func `F-N22 a line that fails every second time makes progress, and fetches no page more than twice`() throws {
    let story = try Story()
    for number in 0..<30 { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(number)', 'user:ana')") }
    var (asked, heard) = (0, 0)
    while try story.screen("a").count < 30, asked < 100 {
      guard let exchange = try story.ask("a") else { continue }
      asked += 1
      if asked % 2 == 0 {
        try story.fail("a", exchange)
      } else {
        heard += 1
        try story.hear("a", try story.serve(exchange, "a"), exchange)
      }
    }
    #expect(try story.screen("a").count == 30)
    #expect(asked <= 2 * heard)
    story.end()
  }

  @Test func `F-N24 answers that are swapped are dropped, whoever's they are`() throws {
    let story = try Story(["a": "ana", "b": "ana", "c": "ben"])
    for (name, home) in [("a", "user:ana"), ("b", "team:t"), ("c", "team:u")] {
      try story.insert(name, name, home: home)
    }
    for kind in ["push", "pull"] {
      let asked = try ["a", "b", "c"].map { ($0, try #require(try story.ask($0))) }
      let answers = try asked.map { try story.serve($0.1, $0.0) }
      let screens = try asked.map { try story.screen($0.0) }
      for (index, (name, exchange)) in asked.enumerated() {
        let effect = try story.hear(name, answers[(index + 1) % 3], exchange)
        #expect(!effect.isApplied, "\(kind) of \(name)")
        #expect(try story.screen(name) == screens[index])
        #expect(try story.store(name).outboxCount() == 1)
      }
      // Push and pull of one device, swapped too.
      let (name, exchange) = asked[0]
      let other = try #require(try story.ask(name))
      try story.hear(name, answers[0], other)
      _ = exchange
    }
    story.end()
  }

  @Test func `F-N25 a verdict of a kind that this device does not know is no judgement`() throws {
    let story = try Story()
    let id = try story.insert("a", "i")
    try story.round("a", limit: 3) { exchange in
      if !exchange.isPush { return try story.serve(exchange, "a") }
      let text =
        "{\"protocol\":3,\"request\":\"\(exchange.name)\",\"verdicts\":[{\"kind\":\"pondering\",\"id\":\"\(id)\"},{\"kind\":\"settled\",\"id\":\"\(id)\",\"outcome\":\"elsewhere\"}],\"extra\":[1]}"
      return TransportResponse(status: 200, contentType: "application/json", body: Array(text.utf8))
    }
    #expect(try story.store("a").outbox().map(\.id) == [id])
    #expect(try story.refusals("a").isEmpty)
    story.end()
    #expect(try story.server() == ["i - 0"])
  }
}
