// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// CASES.md, pages and pushes that stop half-way.
@Suite struct AtomicityCases {
  /// A story with twenty rows to fetch, and a device that has none of them; pages of four.
  private func story() throws -> Story {
    let story = try Story(["a": "ana"])
    for number in 10..<30 { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(number)', 'user:ana')") }
    try story.sync("a")
    return story
  }

  /// Lets the device's n-th statement and all after it fail with an error; gives how many there were.
  private func interrupt(_ story: Story, _ name: String, at number: Int?, code: Int32 = 10) throws -> () -> Int {
    var calls = 0
    try story.store(name).withConnection { connection in
      connection.monitor = { _ in
        calls += 1
        if let number, calls > number { throw SQLiteError(extendedCode: code, message: "interrupted") }
      }
    }
    return { calls }
  }

  @Test func `B58 after a death at any of forty points all rows up to the stored position are here`() throws {
    let story = try story()
    try story.world.open("count", user: "ana")
    let calls = try interrupt(story, "count", at: nil)
    try story.sync("count")
    let all = calls()
    let rows = try story.screen("count")
    for point in 0..<40 {
      let name = "c\(point)"
      try story.world.open(name, user: "ana")
      _ = try interrupt(story, name, at: point * all / 40)
      #expect(throws: SQLiteError.self) { try story.sync(name) }
      try story.world.kill(name)
      let expected = try AtomicityCases.held(by: story.store(name).cursor)
      let found = try story.screen(
        name,
        "SELECT (SELECT count(*) FROM item) + (SELECT count(*) FROM skerry_stage WHERE kind = 0 AND tbl = 'item')")
      #expect(found == ["\(expected)"], "point \(point)")
      try story.sync(name)
      #expect(try story.screen(name) == rows)
      #expect(try story.store(name).digests() == story.store("count").digests())
      story.world.close(name)
    }
    story.end()
  }

  /// How many of the rows a cursor says are here.
  private static func held(by cursor: Cursor?) -> Int {
    guard let cursor else { return 0 }
    guard let open = cursor.open.first(where: { $0.space == "user:ana" }) else { return 20 }
    guard open.after?.table == "item", let last = open.after?.values.first?.text else { return 0 }
    return (10..<30).filter { "i\($0)" <= last }.count
  }

  @Test func `B60 a page that cannot be stored moves no position, however often it is tried`() throws {
    let story = try story()
    let device = try story.world.open("c", user: "ana")
    try story.round("c", limit: 3) { try story.serve($0, "c") }
    let before = try (device.store.cursor, story.screen("c", "SELECT count(*) FROM skerry_stage"))
    #expect(before.0 != nil)
    for _ in 0..<2 {
      let pull = try #require(try story.ask("c"))
      let page = try story.serve(pull, "c")
      try device.store.withConnection { connection in
        var rows = 0
        connection.monitor = { sql in
          guard sql.hasPrefix("INSERT INTO skerry_stage") else { return }
          rows += 1
          if rows == 3 { throw SQLiteError(extendedCode: 13, message: "database or disk is full") }
        }
      }
      #expect(throws: SQLiteError.self) { try story.hear("c", page, pull) }
      try device.store.withConnection { $0.monitor = nil }
      let after = try (device.store.cursor, story.screen("c", "SELECT count(*) FROM skerry_stage"))
      #expect(after == before)
    }
    story.end()
    #expect(try story.screen("c").count == 20)
  }

  @Test func `B61 a line that is cut after the first answer counts nothing as sent`() throws {
    let story = try story()
    for id in ["i10", "i11"] { try story.set("a", id, ["a": "mine"]) }
    // What the server says of its position is heard, and what waits never leaves.
    let push = try #require(try story.ask("a"))
    try story.fail("a", push, .broken("reset"))
    let pull = try #require(try story.ask("a"))
    try story.hear("a", try story.serve(pull, "a"), pull)
    try story.set("a", "i12", ["a": "mine"])
    #expect(try story.store("a").outboxCount() == 3)
    story.end()
    #expect(try story.server("SELECT id FROM item WHERE a = 'mine' ORDER BY id") == ["i10", "i11", "i12"])
  }

  @Test func `B65 an edit of a row that a restored server does not know is reported, and the other edit arrives`()
    throws
  {
    let coast = try Coast()
    try coast.open("a")
    try coast.open("b")
    try coast.write("a") { try $0.insert("item", ["id": "old", "home": "user:ana"]) }
    try coast.settle()
    try coast.server.markSafe(upTo: coast.backUp())
    try coast.settle()
    try coast.write("b") { try $0.insert("item", ["id": "lost", "home": "user:ana"]) }
    try coast.settle()
    try coast.write("a") { try $0.update(Story.item("old"), ["a": "unsent"]) }
    try coast.write("a") { try $0.update(Story.item("lost"), ["a": "unsent too"]) }
    // The device that made the row never comes back.
    coast.close("b")
    try coast.restore(announcedAs: "second life")
    expectAgreement(coast)
    #expect(try coast.rows("a", "SELECT id, a FROM item") == ["old unsent"])
    let refused = try coast.store("a").rejections()
    #expect(refused.map(\.code) == [.gone])
    #expect(refused.flatMap(\.operations).flatMap(\.fields) == [Field("a", "unsent too")])
  }

  @Test(arguments: [true, false])
  func `B66 one action of many rows shows whole or not at all, and is refused as one`(_ isRefused: Bool) throws {
    let story = try Story()
    if isRefused { try story.foreign("INSERT INTO note(id) VALUES ('n40')") }
    try story.write("a") { write in
      try write.insert("item", ["id": "q", "home": "user:ana"])
      for number in 10..<70 { try write.insert("note", ["id": .text("n\(number)"), "parent": "q"]) }
    }
    let cut = try #require(try story.ask("a"))
    if !isRefused { _ = try story.serve(cut, "a") }
    try story.fail("a", cut, .broken("reset"))
    let count = "SELECT (SELECT count(*) FROM item) + (SELECT count(*) FROM note)"
    for _ in 0..<2 {
      try story.round("b") { exchange in
        #expect(try ["0", "61"].contains(story.screen("b", count).first))
        return try story.serve(exchange, "b")
      }
      try story.sync("a")
    }
    story.end()
    for name in ["a", "b"] { #expect(try story.screen(name, count) == [isRefused ? "0" : "61"]) }
    #expect(try story.refusals("a") == (isRefused ? ["exists"] : []))
  }
}
