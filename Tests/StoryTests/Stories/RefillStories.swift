// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import SkerryWire
import Testing

/// Rows that are held while spaces are lost, gained and filled.
@Suite struct RefillStories {
  @Test func `a put that is held for the outbox does not outlive the sweep of a space that was lost and regained`()
    throws
  {
    let story = try Story(["a": "ana"])
    for number in 10..<22 {
      try story.foreign("INSERT INTO item(id, home, a) VALUES ('i\(number)', 'team:t', 'one')")
    }
    try story.sync("a")
    let store = try story.store("a")
    store.longCatchUp = 0  // page by page, as above 5,000 items
    // Pending; its second row is not on the server, so both are held while a space is being filled.
    try story.write("a") { tx in
      try tx.update(Story.item("i10"), ["b": "mine"])
      try tx.insert("item", ["id": "new", "home": "user:ana"])
    }
    try story.foreign("UPDATE item SET a = 'two'")
    func pull() throws -> PageEffect {
      let request = PullRequest(
        schema: SchemaStamp(store.catalog.schema), replicas: store.replicaIDs, cursor: store.cursor, settled: 0,
        limit: 4)
      switch try story.world.server.pull(request, as: "ana") {
      case .reset(let reset): return try store.apply(reset, asked: request.cursor)
      case .page(let page): return try store.apply(page, asked: request.cursor, when: store.clock)
      }
    }
    _ = try pull()
    #expect(try story.screen("a", "SELECT count(*) FROM skerry_stage") == ["1"])  // the put of i10
    try story.foreign("DELETE FROM member WHERE id = 'at'")
    try story.world.server.sequence()
    try story.foreign("UPDATE item SET home = 'user:ben', a = 'of Ben only' WHERE id = 'i10'")
    try story.world.server.sequence()
    try story.foreign("INSERT INTO member(id, team, user) VALUES ('at', 't', 'ana')")
    try story.world.server.sequence()
    for number in 30..<42 { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(number)', 'team:u')") }
    try story.foreign("INSERT INTO member(id, team, user) VALUES ('au', 'u', 'ana')")
    var effect = try pull()
    for _ in 0..<50 where !effect.isConsistent { effect = try pull() }
    #expect(effect.mismatches.isEmpty)
    story.end()
    #expect(try story.screen("a", "SELECT count(*) FROM item WHERE id = 'i10'") == ["0"])
  }

  @Test func `staged values of a space that is lost before it was published leave no byte in the file`() throws {
    let story = try Story(["a": "ana"])
    for number in 10..<22 {
      try story.foreign("INSERT INTO item(id, home, a) VALUES ('i\(number)', 'team:u', 'hidden-word')")
    }
    try story.sync("a")
    try story.foreign("INSERT INTO member(id, team, user) VALUES ('au', 'u', 'ana')")
    // Two pages of the first filling: held, not published.
    for _ in 0..<2 {
      let exchange = try #require(try story.ask("a"))
      try story.hear("a", story.serve(exchange, "a"), exchange)
    }
    #expect(try story.screen("a", "SELECT count(*) FROM skerry_stage WHERE kind = 0") != ["0"])
    #expect(try story.screen("a", "SELECT count(*) FROM item WHERE home = 'team:u'") == ["0"])
    try story.foreign("DELETE FROM member WHERE id = 'au'")
    story.end()
    #expect(try story.screen("a", "SELECT count(*) FROM skerry_stage") == ["0"])
    #expect(story.world.files(of: "a", containing: "hidden-word").isEmpty)
  }

  @Test func `a first reset that a cache repeats is not taken by a device that has a cursor`() throws {
    let story = try Story(["a": "ana"])
    var first: TransportResponse?
    let device = try story.world.open("n", user: "ana")
    while case .exchange(let exchange) = try device.session.next() {
      let answer = try story.serve(exchange, "n")
      if first == nil, !exchange.isPush { first = answer }
      try story.hear("n", answer, exchange)
    }
    try story.foreign("INSERT INTO item(id, home, a) VALUES ('i', 'team:u', 'x')")
    try story.foreign("INSERT INTO member(id, team, user) VALUES ('au', 'u', 'ana')")
    try story.sync("n")
    #expect(try story.screen("n", "SELECT id FROM item") == ["i"])
    let exchange = try #require(try story.ask("n"))
    try story.hear("n", try #require(first), exchange)
    #expect(try story.screen("n", "SELECT id FROM item") == ["i"])
    #expect(try story.store("n").lostSpaces().isEmpty)
  }

  @Test func `a reader that stays open does not hold up pages`() throws {
    let story = try Story(["a": "ana"])
    for number in 10..<22 { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(number)', 'user:ana')") }
    try story.sync("a")
    let reader = try story.world.reader(of: "a")
    try reader.execute("BEGIN")
    _ = try reader.first("SELECT count(*) FROM item") { $0.integer(0) }
    try story.foreign("DELETE FROM item WHERE id = 'i10'")
    // A wait for the reader would take the connection's whole busy time-out, five seconds a page.
    let before = story.world.lockWait
    try story.sync("a")
    try story.foreign("INSERT INTO item(id, home) VALUES ('x', 'user:ana')")
    try story.sync("a")
    #expect(story.world.lockWait - before < .seconds(4))
  }
}
