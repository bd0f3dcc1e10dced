// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// Devices that were away for long, listings that are cut off, and rows that move.
extension DeleteCases {
  /// Inserts and deletes in turn, and an update in front of them for rows that are there.
  private static let words = ["idi", "id", "di", "did", "udi", "ud", "didi"]

  @Test(arguments: [1, 2, 3])
  func `B22 inserts and deletes of one row end as the last of them, with the push on its way after any`(
    _ cut: Int
  )
    throws
  {
    let story = try Story([:])
    for name in ["a", "b"] { try story.world.open(name, user: "ana", policy: TimingPolicy(batch: 500, page: 500)) }
    for word in DeleteCases.words where !word.hasPrefix("i") { try story.insert("a", word, ["a": "v1", "b": "old"]) }
    try story.sync("a", "b")
    func step(_ word: String, _ number: Int, _ letter: Character) throws {
      switch letter {
      case "i": try story.insert("a", word, ["a": .text("v\(number)")])
      case "u": try story.set("a", word, ["a": "edited"])
      default: try story.delete("a", word)
      }
    }
    for word in DeleteCases.words {
      for (number, letter) in word.enumerated().prefix(cut) { try step(word, number, letter) }
    }
    let push = try #require(try story.ask("a"))
    let answer = try story.serve(push, "a")
    for word in DeleteCases.words {
      for (number, letter) in word.enumerated().dropFirst(cut) { try step(word, number, letter) }
    }
    try story.hear("a", answer, push)
    story.end()
    let expected = DeleteCases.words.filter { $0.hasSuffix("i") }.sorted().map { "\($0) v\($0.count - 1) -" }
    for name in ["a", "b"] { #expect(try story.screen(name, "SELECT id, a, b FROM item ORDER BY id") == expected) }
    #expect(try story.refusals("a").isEmpty)
  }

  @Test func `B23 a device that was away longer than deletions are kept brings none of them back`() throws {
    let story = try Story()
    for number in 10..<50 { try story.insert("a", "n\(number)") }
    try story.sync("a", "b")
    try story.set("a", "n10", ["a": "edited"])
    try story.set("a", "n11", ["a": "edited"])
    try story.insert("a", "new")
    let work = try story.store("a").outbox().map(\.id)
    for number in 10..<34 { try story.delete("b", "n\(number)") }
    try story.sync("b")
    story.world.ambient.advance(by: 8 * 86_400_000)
    try story.world.server.expire(upTo: story.world.server.history().head)
    var traffic = Traffic()
    for _ in 0..<2 { try story.round("a", counting: &traffic) }
    #expect(traffic.resets == 1)
    #expect(Set(traffic.offered) == Set(work), "rows that were clean are sent")
    story.end()
    let kept = (34..<50).map { "n\($0)" } + ["new"]
    for name in ["a", "b"] { #expect(try story.screen(name, "SELECT id FROM item ORDER BY id") == kept) }
    #expect(try story.refusals("a") == ["gone", "gone"])
  }

  /// What comes in place of a page of a refill.
  private static let strange = [
    Story.answer(200, "application/json", "[]"), Story.answer(200, "application/json", "{\"protocol\":3}"),
    Story.answer(200, "text/html", "<html>sign in</html>"), Story.answer(200, "application/json"),
    Story.answer(500, "application/problem+json"), Story.answer(302, nil), Story.answer(404, "text/html"),
  ]

  @Test func `B26 a listing that is cut off, foreign or empty removes nothing, and a true one does`() throws {
    let story = try Story(["a": "ana", "b": "ana", "other": "ben"])
    for number in 10..<50 { try story.foreign("INSERT INTO item(id, home) VALUES ('n\(number)', 'user:ana')") }
    try story.sync("a", "b")
    try story.insert("a", "pending")
    try story.store("a").setAside(try #require(try story.store("a").outbox().first).id)
    try story.world.server.beginEpoch("second")
    for (turn, answer) in DeleteCases.strange.enumerated() {
      // So many requests of the refill pass, then this comes, then half a page, then another account's page.
      var left = turn
      try story.round("a", limit: turn + 1) { exchange in
        left -= 1
        return left >= 0 ? try story.serve(exchange, "a") : answer
      }
      let exchange = try #require(try story.ask("a"))
      var half = try story.serve(exchange, "a")
      half.body = Array(half.body.prefix(half.body.count / 2))
      try story.hear("a", half, exchange)
      let again = try #require(try story.ask("a"))
      let foreign = story.world.serve(again.request, as: "ben")
      #expect(foreign.status == 403)
      try story.hear("a", foreign, again)
      #expect(try story.screen("a", "SELECT count(*) FROM item") == ["41"])
      // It goes on after the wait that a refusal takes.
      story.world.ambient.advance(by: 900_000)
    }
    try story.foreign("INSERT INTO item(id, home) VALUES ('late', 'user:ana')")
    try story.sync("a")
    #expect(try story.screen("a", "SELECT count(*) FROM item") == ["42"])
    try story.foreign("DELETE FROM item")
    try story.store("a").retry(try #require(try story.store("a").outbox().first).id)
    story.end()
    #expect(try story.screen("a", "SELECT id FROM item") == ["pending"])
  }

  @Test(arguments: [1, 50])
  func `B27 a row that moves between two circles lives once, for those who may see the last one`(_ page: Int) throws {
    let story = try Story([:])
    try story.foreign(
      "INSERT INTO member(id, team, user) VALUES ('ct', 't', 'carl'), ('du', 'u', 'dora')",
      "INSERT INTO item(id, home) VALUES ('c1', 'team:t')")
    for (name, user) in [("a", "ben"), ("c", "carl"), ("d", "dora")] {
      try story.world.open(name, user: AccountID(user), policy: TimingPolicy(batch: 3, page: page))
    }
    try story.sync("a", "c", "d")
    func seen() throws -> [Int] { try ["a", "c", "d"].map { try story.screen($0).count } }
    #expect(try seen() == [1, 1, 0])
    try story.set("a", "c1", ["home": "team:u", "a": "moved"])
    try story.sync("a", "c", "d")
    #expect(try seen() == [1, 0, 1])
    for home in ["team:t", "team:u"] {
      try story.set("a", "c1", ["home": .text(home)])
      try story.sync("a")
    }
    // Two moves while the others were off.
    try story.sync("c", "d")
    #expect(try seen() == [1, 0, 1])
    try story.set("a", "c1", ["home": "team:t"])
    story.end()
    #expect(try seen() == [1, 1, 0])
    #expect(try story.screen("c") == ["c1 moved 0"])
  }
}
