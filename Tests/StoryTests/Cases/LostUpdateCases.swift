// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// CASES.md, lost updates.
@Suite struct LostUpdateCases {
  enum Turn: String, CaseIterable { case none, killAfterTheAnswer, killAfterThePage, backToTheOldValue }

  @Test(arguments: Turn.allCases)
  func `B01 an edit made while the push of its row is on the way stays pending with its own fields`(
    _ turn: Turn
  )
    throws
  {
    let story = try Story()
    try story.insert("a", "c", ["a": "555-0101", "b": "x"])
    try story.sync("a", "b")
    try story.set("a", "c", ["a": "555-0102"])
    let push = try #require(try story.ask("a"))
    let answer = try story.serve(push, "a")
    let phone: Value = turn == .backToTheOldValue ? "555-0101" : "555-0103"
    let edit = try story.set("a", "c", ["a": phone, "b": "y"])
    try story.hear("a", answer, push)
    if turn == .killAfterThePage {
      try story.store("a").setAside(edit)
      try story.sync("a")
      try story.store("a").retry(edit)
      #expect(try story.store("a").outbox().map(\.id) == [edit])
    }
    if turn == .killAfterTheAnswer || turn == .killAfterThePage { try story.world.kill("a") }
    let waiting = try #require(try story.store("a").outbox().last)
    #expect(waiting.id == edit)
    #expect(waiting.operations.flatMap(\.fields) == [Field("a", phone), Field("b", "y")])
    #expect(try story.screen("a", "SELECT a, b FROM item") == ["\(phone.text ?? "") y"])
    story.end()
    for name in ["a", "b"] { #expect(try story.screen(name, "SELECT a, b FROM item") == ["\(phone.text ?? "") y"]) }
  }

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

  @Test func `B03 in a table that checks versions a stale device is told, and both versions can be read`() throws {
    let story = try Story()
    let key = RowKey("doc", .text("d"))
    try story.write("a") { try $0.insert("doc", ["id": "d", "home": "user:ana", "a": "p1"]) }
    try story.sync("a", "b")
    try story.write("b") { try $0.update(key, ["a": "p2"]) }
    try story.sync("b")
    try story.write("a") { try $0.update(key, ["a": "p1", "b": "an addition"]) }
    story.end()
    for name in ["a", "b"] { #expect(try story.screen(name, "SELECT a, b FROM doc") == ["p2 -"]) }
    let refusal = try #require(try story.store("a").rejections().first)
    #expect(refusal.outcome == .conflicted)
    #expect(refusal.operations.flatMap(\.fields) == [Field("b", "an addition")])
  }

  enum Moment: CaseIterable { case duringThePush, duringThePull }

  @Test(arguments: ["item", "doc"], Moment.allCases)
  func `B04 what is typed while another's version comes in is part of the version that is kept`(
    _ table: String, _ moment: Moment
  ) throws {
    let story = try Story([:])
    for name in ["a", "b"] { try story.world.open(name, user: "ana", policy: TimingPolicy(batch: 100, page: 100)) }
    let key = RowKey(table, .text("n"))
    try story.write("a") { try $0.insert(table, ["id": "n", "home": "user:ana", "a": "one"]) }
    for number in 0..<12 { try story.insert("a", "other\(number)") }
    try story.sync("a", "b")
    try story.write("b") { try $0.update(key, ["a": "one B"]) }
    try story.sync("b")
    for number in 0..<12 { try story.set("a", "other\(number)", ["a": "dirty"]) }
    try story.write("a") { try $0.update(key, ["a": "one A"]) }
    var exchange = try #require(try story.ask("a"))
    if moment == .duringThePull {
      try story.hear("a", try story.serve(exchange, "a"), exchange)
      exchange = try #require(try story.ask("a"))
    }
    let answer = try story.serve(exchange, "a")
    try story.write("a") { try $0.update(key, ["a": "one A two"]) }
    try story.hear("a", answer, exchange)
    story.end()
    let refused = try story.store("a").rejections()
    if table == "item" {
      #expect(try story.screen("b", "SELECT a FROM item WHERE id = 'n'") == ["one A two"])
      #expect(refused.isEmpty)
    } else {
      #expect(try story.screen("a", "SELECT a FROM doc") == ["one B"])
      #expect(refused.flatMap(\.operations).flatMap(\.fields).map(\.value) == ["one A", "one A two"])
    }
  }

  @Test func `B09 an app that saves at its start what it has changes nothing for anybody`() throws {
    let story = try Story()
    try story.insert("a", "u", ["a": "open", "b": "more"])
    try story.sync("a", "b")
    try story.set("a", "u", ["a": "collapsed"])
    try story.sync("a")
    try story.world.kill("b")
    let saved = try story.store("b").write {
      try $0.update(Story.item("u"), ["a": "open", "b": "more", "home": "user:ana", "also": nil])
    }
    #expect(saved == nil)
    #expect(try story.store("b").outbox().isEmpty)
    story.end()
    #expect(try story.screen("b", "SELECT a, b FROM item") == ["collapsed more"])
  }
}
