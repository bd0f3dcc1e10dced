// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// CASES.md, accounts and what they may see.
@Suite struct AccountCases {
  @Test func `B81 what one account left unsent goes out under no other's name`() throws {
    let story = try Story(["first": "ana", "second": "ben"])
    // Two accounts on one device: a file each.
    for number in 1...2 { try story.insert("first", "mine\(number)", ["a": "words of Ana"]) }
    let push = try #require(try story.ask("first"))
    try story.hear("first", Story.answer(401, "application/problem+json", "{}"), push)
    try story.insert("second", "his", home: "user:ben")
    try story.round("second") { exchange in
      let text = String(decoding: exchange.request.body, as: UTF8.self)
      #expect(!text.contains("mine") && !text.contains("Ana"))
      return try story.serve(exchange, "second")
    }
    #expect(try story.server("SELECT id FROM item") == ["his"])
    #expect(try story.store("first").outboxCount() == 2)
    // One account's device under the other's token.
    let store = try story.store("first")
    let forged = try Story.push(try store.offer(store.outbox().map(\.id)), from: store)
    #expect(story.verdicts(forged, as: "ben") == ["forbidden"])
    let pull = try #require(try story.ask("first"))
    #expect(story.world.serve(pull.request, as: "ben").status == (pull.isPush ? 200 : 403))
    #expect(try story.server("SELECT id FROM item") == ["his"])
    try story.fail("first", pull)
    try story.device("first").session.note(.authenticated)
    story.end()
    #expect(
      try story.server("SELECT id, home FROM item WHERE id LIKE 'mine%' ORDER BY id").map { $0.suffix(8) } == [
        "user:ana", "user:ana",
      ])
    #expect(try story.refusals("first").isEmpty)
  }

  @Test func `B83 a member who is removed while off loses all but what another circle shows, and gets it back later`()
    throws
  {
    let story = try Story(["a": "ben", "b": "ana"])
    try story.foreign("INSERT INTO member(id, team, user) VALUES ('au', 'u', 'ana')")
    for number in 1...5 {
      let also = number == 5 ? "'team:u'" : "NULL"
      try story.foreign("INSERT INTO item(id, home, also, a) VALUES ('c\(number)', 'team:t', \(also), 'old')")
    }
    try story.sync("a", "b")
    #expect(try story.screen("b").count == 5)
    try story.set("b", "c2", ["a": "unsent"])
    try story.write("a") { try $0.delete(RowKey("member", .text("at"))) }
    try story.sync("a")
    try story.set("a", "c1", ["a": "new"])
    try story.sync("a", "b")
    #expect(try story.screen("b") == ["c5 old 0"])
    #expect(try story.refusals("b") == ["forbidden"])
    #expect(try story.store("b").lostSpaces() == ["team:t"])
    try story.write("a") { try $0.insert("member", ["id": "again", "team": "t", "user": "ana"]) }
    story.end()
    #expect(
      try story.screen("b", "SELECT id, a FROM item ORDER BY id") == ["c1 new", "c2 old", "c3 old", "c4 old", "c5 old"])
    #expect(try story.store("b").lostSpaces().isEmpty)
  }

  @Test(arguments: [0, 1, 3, 5])
  func `B87 a token that runs out in the middle of a load costs no page, and no row comes twice`(_ page: Int) throws {
    let story = try Story(["a": "ana"])
    for number in 10..<30 { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(number)', 'user:ana')") }
    try story.sync("a")
    try story.world.open("c", user: "ana")
    try story.insert("c", "mine")
    var traffic = Traffic()
    try story.round("c", counting: &traffic, limit: page)
    // Twice: the token source could not renew it at once.
    for _ in 0..<2 {
      guard let exchange = try story.ask("c") else { continue }
      try story.hear("c", Story.answer(401, "application/problem+json", "{}"), exchange)
    }
    #expect(try story.condition("c") == .needsAuthentication)
    #expect(try story.store("c").outboxCount() == 1)
    try story.device("c").session.note(.authenticated)
    try story.round("c", counting: &traffic)
    #expect(traffic.resets == 1)
    #expect(traffic.rows.filter { $0.table == "item" }.count == 21)
    #expect(traffic.mostPuts == 1)
    #expect(traffic.mostOffers <= 2, "once more, after the first reset")
    story.end()
  }
}
