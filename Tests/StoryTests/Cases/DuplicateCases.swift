// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// CASES.md, creates that are made twice and operations that are applied twice.
@Suite struct DuplicateCases {
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
    #expect(try story.refusals("a") + story.refusals("b") == [])
  }

  @Test(arguments: ["it arrives", "it is lost", "its answer is lost"])
  func `B11 a row that is edited while its create is on the way is one row with the last values`(_ fate: String) throws
  {
    let story = try Story()
    try story.insert("a", "m", ["a": "hi"])
    let create = try #require(try story.ask("a"))
    let answer = fate == "it is lost" ? nil : try story.serve(create, "a")
    try story.set("a", "m", ["a": "hi all"])
    if let answer, fate == "it arrives" { try story.hear("a", answer, create) } else { try story.fail("a", create) }
    var statuses: Set<Int> = []
    try story.round("a") { exchange in
      let answer = try story.serve(exchange, "a")
      statuses.insert(answer.status)
      return answer
    }
    #expect(statuses == [200])
    story.end()
    for name in ["a", "b"] { #expect(try story.screen(name) == ["m hi all 0"]) }
  }

  @Test func `B11 a row of another account under the same id is refused alone, and the refusal tells nothing of it`()
    throws
  {
    let story = try Story()
    try story.foreign("INSERT INTO item(id, home, a) VALUES ('m', 'user:ben', 'secret')")
    try story.insert("a", "m", ["a": "hi"])
    try story.set("a", "m", ["a": "hi all"])
    try story.insert("a", "free")
    var traffic = Traffic()
    for _ in 0..<3 { try story.round("a", counting: &traffic) }
    #expect(traffic.mostOffers == 1, "it is tried again")
    story.end()
    #expect(try story.refusals("a") == ["exists", "gone"])
    let reasons = try story.store("a").rejections().compactMap(\.reason)
    #expect(!reasons.contains { $0.contains("secret") || $0.contains("ben") })
    #expect(try story.screen("a") == ["free - 0"])
    #expect(try story.server("SELECT home, a FROM item WHERE id = 'm'") == ["user:ben secret"])
  }

  @Test func `B16 what waits is the same after each start without network, and arrives once and in its order`() throws {
    let story = try Story()
    try story.insert("a", "i")
    try story.sync("a")
    let ids = try (1...3).map { try story.set("a", "i", ["a": .text("\($0)")]) }
    for _ in 0..<5 {
      try story.world.kill("a")
      #expect(try story.store("a").outbox().map(\.id) == ids)
      let exchange = try #require(try story.ask("a"))
      try story.fail("a", exchange, .unreachable("no route"))
      #expect(try story.store("a").outboxCount() == 3)
    }
    var traffic = Traffic()
    try story.round("a", counting: &traffic)
    #expect(traffic.offered == ids)
    story.end()
    #expect(try story.server("SELECT count(*) FROM skerry_receipts") == ["4"])
    #expect(try story.server("SELECT a FROM item") == ["3"])
  }

  @Test func `B17 an import that is interrupted is not sent again from the beginning`() throws {
    let story = try Story()
    for number in 0..<15 { try story.insert("a", "c\(number)") }
    // Batches of three. The process dies when the server holds three of them, before it has the third answer.
    var first = Traffic()
    try story.round("a", counting: &first, limit: 2)
    let third = try #require(try story.ask("a"))
    _ = try story.serve(third, "a")
    try story.world.kill("a")
    #expect(try story.server("SELECT count(*) FROM skerry_receipts") == ["9"])
    var second = Traffic()
    try story.round("a", counting: &second)
    #expect(Set(first.offered).count == 6)
    #expect(Set(first.offered).isDisjoint(with: second.offered))
    story.end()
    #expect(try story.server("SELECT count(*) FROM item") == ["15"])
    #expect(try story.server("SELECT count(*) FROM skerry_receipts") == ["15"])
  }

  @Test func `B17 an answer that cannot be stored costs no row, and nothing is there twice`() throws {
    let story = try Story()
    for number in 0..<9 { try story.insert("a", "c\(number)") }
    try story.round("a", limit: 3) { try story.serve($0, "a") }
    let pull = try #require(try story.ask("a"))
    let page = try story.serve(pull, "a")
    try story.store("a").withConnection { connection in
      connection.monitor = { sql in
        if sql.hasPrefix("INSERT") { throw SQLiteError(extendedCode: 13, message: "database or disk is full") }
      }
    }
    #expect(throws: SQLiteError.self) { try story.hear("a", page, pull) }
    try story.store("a").withConnection { $0.monitor = nil }
    #expect(try story.store("a").outboxCount() == 9)
    story.end()
    #expect(try story.server("SELECT count(*) FROM skerry_receipts") == ["9"])
    #expect(try story.screen("b").count == 9)
  }
}
