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

/// CASES.md, rows that come back and rows that go by mistake.
@Suite struct DeleteCases {
  enum Moment: CaseIterable { case beforeThePull, whileItIsOnItsWay }

  @Test(arguments: Moment.allCases)
  func `B19 a row that is made, synced and deleted in quick succession never shows again`(_ moment: Moment) throws {
    let story = try Story()
    try story.insert("a", "m")
    // Push only: the page that tells of the row comes after the delete.
    let push = try #require(try story.ask("a"))
    try story.hear("a", try story.serve(push, "a"), push)
    try story.sync("b")
    #expect(try story.screen("b") == ["m - 0"])
    if moment == .beforeThePull { try story.delete("a", "m") }
    let pull = try #require(try story.ask("a"))
    let page = try story.serve(pull, "a")
    if moment == .whileItIsOnItsWay { try story.delete("a", "m") }
    try story.hear("a", page, pull)
    #expect(try story.screen("a").isEmpty)
    try story.round("a") { exchange in
      #expect(try story.screen("a").isEmpty)
      return try story.serve(exchange, "a")
    }
    story.end()
    for name in ["a", "b"] { #expect(try story.screen(name).isEmpty) }
  }

  @Test func `B20 no answer names a row twice, and a fresh device sees nothing of one that is gone`() throws {
    let story = try Story()
    for number in 0..<6 { try story.insert("a", "m\(number)") }
    try story.sync("a")
    for number in 0..<3 { try story.delete("a", "m\(number)") }
    try story.set("a", "m3", ["a": "new"])
    try story.sync("a")
    try story.world.open("c", user: "ana")
    for name in ["b", "c"] {
      var shown: Set<String> = []
      try story.round(name) { exchange in
        let answer = try story.serve(exchange, name)
        guard case .page(let page)? = story.page(answer) else { return answer }
        let named = page.items.compactMap(DeleteCases.row)
        #expect(Set(named).count == named.count)
        shown.formUnion(try story.screen(name, "SELECT id FROM item"))
        return answer
      }
      #expect(shown.isDisjoint(with: ["m0", "m1", "m2"]))
    }
    story.end()
    #expect(try story.screen("c") == ["m3 new 0", "m4 - 0", "m5 - 0"])
  }

  private static func row(_ item: PageItem) -> RowKey? {
    switch item {
    case .put(_, let image): image.key
    case .deleted(_, let key), .left(_, let key, _): key
    case .gain, .lose, .filled, .receipt: nil
    }
  }

  @Test func `B20 when a page does name a row several times, its last word stands`() throws {
    let story = try Story(["a": "ana"])
    for id in ["gone", "kept"] {
      try story.foreign("INSERT INTO item(id, home, a) VALUES ('\(id)', 'user:ana', 'old')")
    }
    try story.sync("a")
    let before = try story.world.server.history().head
    try story.foreign("DELETE FROM item WHERE id = 'gone'", "UPDATE item SET a = 'new' WHERE id = 'kept'")
    let codec = JSONCodec(catalog: story.world.catalog)
    try story.round("a") { exchange in
      var answer = try story.serve(exchange, "a")
      guard case .page(var page)? = story.page(answer), page.cursor.position > before else { return answer }
      // In front of what the server says: older words about the same rows.
      let older = page.items.compactMap { item -> PageItem? in
        guard case .put(let space, var image) = item, image.key == Story.item("kept") else { return nil }
        image.values[1] = "older"
        return .put(space, image)
      }
      page.items = older + [.deleted("user:ana", Story.item("kept"))] + older + page.items
      answer.body = codec.encode(PullAnswer.page(page), to: exchange.name)
      return answer
    }
    #expect(try story.screen("a") == ["kept new 0"])
    story.end()
  }

  @Test func `B25 a day of unsent work on a row that another deletes can still be read, also if the pull comes first`()
    throws
  {
    for pullsFirst in [false, true] {
      let story = try Story()
      try story.insert("a", "i")
      try story.sync("a", "b")
      for number in 1...5 { try story.set("a", "i", ["a": .text("work \(number)")]) }
      try story.delete("b", "i")
      try story.sync("b")
      if pullsFirst {
        // A push that fails once lets the pull go first.
        let push = try #require(try story.ask("a"))
        try story.fail("a", push)
        let pull = try #require(try story.ask("a"))
        #expect(!pull.isPush)
        try story.hear("a", try story.serve(pull, "a"), pull)
        #expect(try DeleteCases.words(story.store("a").outbox().flatMap(\.operations)).last == "work 5")
        try story.world.kill("a")
      }
      story.end()
      let words = try DeleteCases.words(story.store("a").rejections().flatMap(\.operations))
      #expect(words == (1...5).map { "work \($0)" })
    }
  }

  private static func words(_ operations: [SkerryModel.Operation]) -> [String] {
    operations.flatMap(\.fields).compactMap(\.value.text)
  }
}
