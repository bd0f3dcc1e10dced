// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import Testing

/// CASES.md: lost updates, doubled creates, wrong deletes.
@Suite struct UpdateCases {
  @Test(arguments: [true, false])
  func `B03 a stale device that changes one field puts no other back`(_ pullsFirst: Bool) throws {
    let story = try Story()
    try story.insert("a", "i", ["a": "p1", "b": nil])
    try story.sync("a", "b")
    try story.set("b", "i", ["a": "p2"])
    try story.write("b") { try $0.update(Story.item("i"), ["b": "T1"]) }
    try story.sync("b")
    // The app on the stale device saves its whole row, with one addition.
    try story.set("a", "i", ["a": "p1", "b": nil, "also": "team:t"])
    if pullsFirst {
      let work = try story.store("a").outbox().map(\.id)
      for id in work { try story.store("a").setAside(id) }
      try story.sync("a")
      for id in work { try story.store("a").retry(id) }
    }
    story.end()
    #expect(try story.server("SELECT a, b, also FROM item") == ["p2 T1 team:t"])
    #expect(try story.screen("a", "SELECT a, b, also FROM item") == ["p2 T1 team:t"])
  }

  @Test func `B07 fast edits on a slow line never go back on the screen, and end at the last`() throws {
    let story = try Story()
    try story.insert("a", "i", ["a": ""])
    try story.sync("a")
    var flying: SyncSession.Exchange?
    var pushes = 0
    for letter in ["A", "B", "C", "D", "E"] {
      try story.set("a", "i", ["a": .text(letter)])
      #expect(try story.screen("a", "SELECT a FROM item") == [letter])
      if flying == nil { flying = try story.ask("a") }
    }
    while let exchange = flying {
      pushes += exchange.isPush ? 1 : 0
      try story.hear("a", try story.serve(exchange, "a"), exchange)
      #expect(try story.screen("a", "SELECT a FROM item") == ["E"])
      guard case .exchange(let next) = try story.device("a").session.next() else { break }
      flying = next
    }
    story.end()
    #expect(pushes <= 3)
    #expect(try story.screen("b", "SELECT a FROM item") == ["E"])
  }

  enum Between: String, CaseIterable { case nothing, kill, days, edit, delete }

  @Test func `B10 a create that is sent again has one effect, whatever happened between the tries`() throws {
    let story = try Story()
    for between in Between.allCases {
      let id = between.rawValue
      try story.insert("a", id, ["a": "12.50"])
      let push = try #require(try story.ask("a"))
      _ = try story.serve(push, "a")
      try story.fail("a", push)
      switch between {
      case .nothing: break
      case .kill: try story.world.kill("a")
      case .days: story.world.ambient.advance(by: 25 * 3_600_000)
      case .edit:
        try story.sync("b")
        try story.set("b", id, ["a": "13.00"])
        try story.sync("b")
      case .delete:
        try story.sync("b")
        try story.delete("b", id)
        try story.sync("b")
      }
      try story.sync("a")
    }
    story.end()
    #expect(
      try story.screen("a", "SELECT id, a FROM item ORDER BY id") == [
        "days 12.50", "edit 13.00", "kill 12.50", "nothing 12.50",
      ])
  }

  @Test func `B17 an import that is interrupted is not sent again from the beginning`() throws {
    let story = try Story()
    for number in 0..<15 { try story.insert("a", "c\(number)") }
    var pushed = 0
    try story.round("a", limit: 3) { exchange in
      pushed += 1
      return try story.serve(exchange, "a")
    }
    // The process dies before the answers' page; batches of three.
    try story.world.kill("a")
    let before = try story.server("SELECT count(*) FROM skerry_receipts")
    #expect(before == ["9"])
    story.end()
    #expect(try story.server("SELECT count(*) FROM item") == ["15"])
    #expect(try story.server("SELECT count(*) FROM skerry_receipts") == ["15"])
  }

  @Test func `B19 B20 what is made and deleted in quick succession appears nowhere again`() throws {
    let story = try Story()
    try story.insert("a", "i")
    try story.sync("a")
    try story.delete("a", "i")
    let pull = try #require(try story.ask("a"))
    try story.hear("a", try story.serve(pull, "a"), pull)
    #expect(try story.screen("a").isEmpty)
    try story.world.open("c", user: "ana")
    story.end()
    for name in ["a", "b", "c"] { #expect(try story.screen(name).isEmpty) }
  }

  @Test func `B25 a day of unsent work on a row that another deletes can still be read`() throws {
    let story = try Story()
    try story.insert("a", "i")
    try story.sync("a", "b")
    for number in 1...5 { try story.set("a", "i", ["a": .text("work \(number)")]) }
    try story.delete("b", "i")
    try story.sync("b")
    story.end()
    let words = try story.store("a").rejections().flatMap(\.operations).flatMap(\.fields).compactMap(\.value.text)
    #expect(words == (1...5).map { "work \($0)" })
  }

  @Test func `B90 two devices that write the same have no conflict`() throws {
    let story = try Story()
    try story.insert("a", "i")
    try story.sync("a", "b")
    for name in ["a", "b"] { try story.set(name, "i", ["a": "same"]) }
    story.end()
    #expect(try story.refusals("a") + story.refusals("b") == [])
    #expect(try story.server() == ["i same 0"])
  }

  @Test func `B93 an edit that was refused as stale is accepted after one pull`() throws {
    let story = try Story()
    let key = RowKey("doc", .text("d"))
    try story.write("a") { try $0.insert("doc", ["id": "d", "home": "user:ana"]) }
    try story.sync("a", "b")
    try story.foreign("UPDATE doc SET a = 'theirs'")
    try story.write("a") { try $0.update(key, ["b": "mine"]) }
    try story.sync("a")
    #expect(try story.store("a").rejections().map(\.outcome) == [.conflicted])
    #expect(try story.screen("a", "SELECT a, b FROM doc") == ["theirs -"])
    try story.write("a") { try $0.update(key, ["b": "mine"]) }
    story.end()
    #expect(try story.store("a").rejections().count == 1)
    #expect(try story.server("SELECT a, b FROM doc") == ["theirs mine"])
  }

  @Test func `B47 a device is never in conflict with its own pushes`() throws {
    let story = try Story()
    let key = RowKey("doc", .text("d"))
    try story.write("a") { try $0.insert("doc", ["id": "d", "home": "user:ana"]) }
    for number in 1...12 {
      let push = try #require(try story.ask("a"))
      try story.write("a") { try $0.update(key, ["a": .text("\(number)")]) }
      // Push only: the page that tells of it is never asked for.
      try story.hear("a", try story.serve(push, "a"), push)
      try story.fail("a", push)
    }
    story.end()
    #expect(try story.refusals("a").isEmpty)
    #expect(try story.server("SELECT a FROM doc") == ["12"])
  }
}
