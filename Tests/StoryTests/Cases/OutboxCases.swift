// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

/// CASES.md: outboxes that get stuck, or drop what they hold.
@Suite struct OutboxCases {
  @Test func `B29 one bad entry holds up nobody but its dependents, and is set aside in the end`() throws {
    let story = try Story()
    try story.foreign("INSERT INTO item(id, home) VALUES ('r3', 'user:ben')")
    let bad = try story.insert("a", "r2")
    for id in ["r1", "r3", "r4"] { try story.insert("a", id) }
    let later = try story.set("a", "r2", ["a": "later"])
    let child = try story.write("a") { try $0.insert("note", ["id": "r5", "parent": "r2"]) }
    for _ in 0..<12 {
      try story.round("a") { exchange in
        let text = String(decoding: exchange.request.body, as: UTF8.self)
        let isBad = text.contains("\"op\":\"insert\",\"table\":\"item\",\"key\":[\"r2\"]")
        return exchange.isPush && isBad ? Story.answer(500) : try story.serve(exchange, "a")
      }
    }
    #expect(try story.server("SELECT id FROM item ORDER BY id") == ["r1", "r3", "r4"])
    #expect(try story.refusals("a") == ["exists"])
    let entries = try story.store("a").outbox()
    #expect(entries.map(\.id) == [bad, later, child])
    #expect(entries.first?.state == .failed)
    #expect(entries.first?.lastError?.contains("500") == true)
    for entry in entries where entry.state == .failed { try story.store("a").retry(entry.id) }
    story.end()
    #expect(try story.server("SELECT id, a FROM item WHERE id = 'r2'") == ["r2 later"])
    #expect(try story.server("SELECT id FROM note") == ["r5"])
  }

  @Test func `B32 edits made while a retry waits, and while it runs, all arrive in order`() throws {
    for last in ["edit", "delete"] {
      let story = try Story()
      try story.insert("a", "t", ["a": "0"])
      try story.sync("a")
      for number in 1...3 {
        try story.set("a", "t", ["a": .text("\(number)")])
        let exchange = try #require(try story.ask("a"))
        try story.fail("a", exchange, .unreachable("no route"))
      }
      let exchange = try #require(try story.ask("a"))
      if last == "edit" { try story.set("a", "t", ["a": "4"]) } else { try story.delete("a", "t") }
      try story.hear("a", try story.serve(exchange, "a"), exchange)
      story.end()
      #expect(try story.server("SELECT a FROM item") == (last == "edit" ? ["4"] : []))
      #expect(try story.refusals("a").isEmpty)
    }
  }

  @Test func `B33 nothing of a row goes before its create is stored, cut before or after`() throws {
    for isServed in [false, true] {
      let story = try Story([:])
      try story.world.open("a", user: "ana", policy: TimingPolicy(batch: 1, page: 4))
      try story.insert("a", "r", ["a": "1"])
      try story.set("a", "r", ["a": "2"])
      try story.set("a", "r", ["a": "3"])
      let create = try #require(try story.ask("a"))
      if isServed { _ = try story.serve(create, "a") }
      try story.fail("a", create, .broken("reset"))
      story.end()
      #expect(try story.server("SELECT a FROM item") == ["3"])
      #expect(try story.refusals("a").isEmpty)
    }
  }

  @Test func `B36 F-P02 a create is there after each death, and once on the server`() throws {
    let story = try Story()
    for (number, point) in ["before it leaves", "after it left", "after it is stored", "after the answer came"]
      .enumerated()
    {
      let id = "n\(number)"
      try story.insert("a", id)
      if number > 0, let push = try story.ask("a") {
        if number > 1 {
          let answer = try story.serve(push, "a")
          if number > 2 { try story.hear("a", answer, push) }
        }
      }
      try story.world.kill("a")
      #expect(try story.screen("a", "SELECT id FROM item WHERE id = '\(id)'") == [id], "\(point)")
    }
    story.end()
    #expect(try story.server("SELECT count(*) FROM item") == ["4"])
    #expect(try story.server("SELECT count(*) FROM skerry_receipts") == ["4"])
  }

  @Test func `B37 a conversation that is dropped in the middle of a retry counts nothing as sent`() throws {
    let story = try Story()
    for number in 0..<3 { try story.insert("a", "i\(number)") }
    for number in 0..<4 {
      let exchange = try #require(try story.ask("a"))
      if number % 2 == 0 { try story.fail("a", exchange, .cancelled) }
      // Otherwise nothing is ever heard of it: the engine was paused, and begins a new conversation.
      try story.world.kill("a")
      #expect(try story.store("a").ready(limit: 9).count == 3)
    }
    story.end()
    #expect(try story.server("SELECT count(*) FROM item") == ["3"])
  }

  @Test func `what depends on nothing goes on although many wait for an entry that was set aside`() throws {
    let story = try Story(["a": "ana"])
    let parent = try story.insert("a", "p")
    for number in 0..<3 {
      try story.write("a") { try $0.insert("note", ["id": .text("n\(number)"), "parent": "p"]) }
    }
    try story.store("a").setAside(parent)
    try story.insert("a", "free")
    for _ in 0..<10 { try story.sync("a") }
    #expect(try story.server("SELECT id FROM item") == ["free"])
    try story.store("a").retry(parent)
    story.end()
    #expect(try story.server("SELECT id FROM item ORDER BY id") == ["free", "p"])
    #expect(try story.server("SELECT id FROM note ORDER BY id") == ["n0", "n1", "n2"])
  }
}
