// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// CASES.md, a status that lies.
@Suite struct StatusCases {
  @Test func `B121 B125 a first sync is told to be over when all rows that were there are here, and not before`() throws
  {
    let story = try Story(["a": "ana"])
    for number in 10..<24 { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(number)', 'user:ana')") }
    try story.world.open("c", user: "ana")
    let device = try story.device("c")
    story.world.ambient.advance(by: 1_000)
    while case .exchange(let exchange) = try device.session.next() {
      #expect(device.store.syncedAt == nil)
      let effect = try story.hear("c", try story.serve(exchange, "c"), exchange)
      #expect(effect.isConsistent == (try story.screen("c").count == 14))
    }
    #expect(device.store.syncedAt == story.world.ambient.now())
    // An account without any data comes to its end too.
    try story.world.open("e", user: "eve")
    try story.sync("e")
    #expect(try story.store("e").syncedAt != nil)
    story.end()
  }

  @Test func `B125 what is written while a first load is under way does not end it early, and an empty table not late`()
    throws
  {
    let story = try Story(["a": "ana"])
    for number in 10..<22 {
      try story.foreign(
        "INSERT INTO item(id, home) VALUES ('i\(number)', 'team:t')",
        "INSERT INTO note(id, parent) VALUES ('n\(number)', 'i\(number)')",
        "INSERT INTO part(id, parent) VALUES ('p\(number)', 'n\(number)')")
    }
    let device = try story.world.open("c", user: "ana")
    var pages = 0
    try story.round("c") { exchange in
      pages += 1
      #expect(device.store.syncedAt == nil)
      if pages == 4 { try story.foreign("INSERT INTO item(id, home) VALUES ('during', 'user:ana')") }
      return try story.serve(exchange, "c")
    }
    #expect(device.store.syncedAt != nil)
    let counts =
      "SELECT count(*) FROM item WHERE id <> 'during' UNION ALL SELECT count(*) FROM note UNION ALL SELECT count(*) FROM part UNION ALL SELECT count(*) FROM doc"
    #expect(try story.screen("c", counts) == ["12", "12", "12", "0"])
    #expect(pages > 9)
    story.end()
  }

  @Test func `B122 while pushes do not pass, nothing says that all is well, and they go on by themselves`() throws {
    let story = try Story()
    for number in 0..<7 { try story.insert("a", "i\(number)") }
    let start = story.world.ambient.now()
    var (pushes, rounds) = (0, 0)
    while story.world.ambient.now() < start + 6 * 3_600_000 {
      rounds += 1
      try story.round("a") { exchange in
        pushes += exchange.isPush ? 1 : 0
        return exchange.isPush ? Story.answer(503) : try story.serve(exchange, "a")
      }
      #expect(try story.condition("a") != .idle)
    }
    #expect(pushes >= rounds / 2, "\(pushes) pushes in \(rounds) rounds")
    let waiting = try story.store("a").outbox()
    #expect(waiting.count == 7)
    #expect(waiting.map(\.madeAt).min() == start)
    #expect(waiting.allSatisfy { $0.state == .sent })
    // The server is well again; nobody writes or asks.
    story.world.ambient.advance(by: 120_000)
    while case .exchange(let exchange) = try story.device("a").session.next() {
      try story.hear("a", try story.serve(exchange, "a"), exchange)
    }
    #expect(try story.store("a").outboxCount() == 0)
    story.end()
  }

  @Test func `B123 a round that is half of one is not told as a whole, and moves no time`() throws {
    let story = try Story()
    for number in 10..<22 { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(number)', 'user:ana')") }
    let at = try #require(try story.store("a").syncedAt)
    try story.insert("a", "mine")
    let session = try story.device("a").session
    // Pushes pass and pulls do not; then the line goes after two pages of four.
    try story.round("a", limit: 2) { exchange in
      exchange.isPush ? try story.serve(exchange, "a") : Story.answer(503)
    }
    #expect(session.totals.pushed == 1)
    #expect(!session.totals.isConsistent)
    #expect(try story.condition("a") == .failing(status: 503))
    try story.round("a", limit: 2) { try story.serve($0, "a") }
    let exchange = try #require(try story.ask("a"))
    try story.fail("a", exchange, .cancelled)
    #expect(try story.store("a").syncedAt == at)
    #expect(!session.totals.isConsistent)
    #expect(try story.condition("a") == .unreachable)
    story.end()
    #expect(try story.store("a").syncedAt != at)
  }

  @Test func `B127 a start without network keeps the time of the last sync and all rows`() throws {
    let story = try Story()
    try story.insert("a", "i")
    try story.sync("a")
    let at = try #require(try story.store("a").syncedAt)
    for _ in 0..<3 {
      try story.world.kill("a")
      let exchange = try #require(try story.ask("a"))
      try story.fail("a", exchange, .unreachable("no route"))
      story.world.ambient.advance(by: 86_400_000)
      #expect(try story.store("a").syncedAt == at)
      #expect(try story.screen("a") == ["i - 0"])
      #expect(try story.store("a").outboxCount() == 0)
    }
    story.end()
  }

  @Test func `B126 what waits is a stored fact that can be read after a death`() throws {
    let story = try Story()
    try story.insert("a", "i")
    try story.sync("a")
    for number in 1...3 { try story.insert("a", "new\(number)") }
    for number in 1...2 { try story.add("a", "i", Int64(number)) }
    try story.delete("a", "new1")
    try story.world.kill("a")
    #expect(try story.store("a").outboxCount() == 6)
    let kinds = try story.store("a").outbox().flatMap(\.operations).map { operation in
      switch operation.action {
      case .insert: "insert"
      case .set: "set"
      case .increment: "add"
      case .delete: "delete"
      }
    }
    #expect(kinds == ["insert", "insert", "insert", "add", "add", "delete"])
    story.end()
  }
}
