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

/// CASES.md, costs that grow: counted in requests, pages, rows, bytes and statements.
@Suite struct PerformanceCases {
  @Test func `B113 a first load in pages goes on where it was cut, and shows rows before its end`() throws {
    let story = try Story(["a": "ana"])
    for number in 10..<70 { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(number)', 'user:ana')") }
    try story.sync("a")
    let device = try story.world.open("c", user: "ana")
    device.store.longCatchUp = 12
    var (asked, cuts, shown) = (0, 0, [0])
    var traffic = Traffic()
    while device.store.syncedAt == nil, asked < 60 {
      guard let exchange = try story.ask("c") else { continue }
      asked += 1
      let answer = try story.serve(exchange, "c")
      if asked % 3 == 0, cuts < 6 {
        cuts += 1
        try story.fail("c", exchange, .broken("cut"))
      } else {
        traffic.note(exchange, answer, .init(catalog: story.world.catalog))
        try story.hear("c", answer, exchange)
      }
      shown.append(try story.screen("c").count)
    }
    #expect(cuts == 6)
    #expect(traffic.mostPuts == 1)
    // Sixty-four rows at four a page, the reset, an empty space, and one more for each cut.
    #expect(asked <= 16 + 3 + 6, "\(asked) requests")
    #expect(shown == shown.sorted())
    #expect(shown.dropLast().contains { $0 > 0 && $0 < 60 })
    #expect(traffic.longestAnswer < 4_000)
    story.end()
  }

  @Test func `B115 a push is bounded by its bytes, and a line that is cut costs one batch`() throws {
    let story = try Story([:])
    try story.world.open("a", user: "ana", policy: TimingPolicy(batch: 100, page: 2_000))
    try story.sync("a")
    let long = Value.text(String(repeating: "x", count: 600_000))
    for number in 0..<12 { try story.insert("a", "small\(number)") }
    for number in 0..<2 { try story.insert("a", "long\(number)", ["a": long]) }
    var traffic = Traffic()
    for cut in [1, 2] {
      try story.round("a", counting: &traffic, limit: cut) { try story.serve($0, "a") }
      let exchange = try #require(try story.ask("a"))
      if exchange.isPush { traffic.note(exchange, Story.answer(0), .init(catalog: story.world.catalog)) }
      try story.fail("a", exchange, .broken("cut"))
    }
    try story.round("a", counting: &traffic)
    #expect(traffic.longestRequest < (1 << 20))
    #expect(traffic.mostOffers <= 2)
    #expect(traffic.pushes <= 2 + 2)
    story.end()
    #expect(try story.server("SELECT count(*), sum(length(a)) FROM item") == ["14 1200000"])
  }

  @Test func `B116 what a push and a write cost does not grow with the outbox`() throws {
    let story = try Story([:])
    try story.world.open("a", user: "ana", policy: TimingPolicy(batch: 20, page: 2_000))
    for number in 0..<60 { try story.insert("a", "i\(number)") }
    try story.sync("a")
    var calls = 0
    try story.store("a").withConnection { $0.monitor = { _ in calls += 1 } }
    func cost(_ body: () throws -> Void) rethrows -> Int {
      calls = 0
      try body()
      return calls
    }
    var writes: [Int] = []
    for number in 0..<240 { writes.append(try cost { try story.add("a", "i\(number % 60)", 1) }) }
    // The first edit of a row moves its confirmed content aside.
    #expect(Set(writes.dropFirst(60)).count == 1, "\(Set(writes))")
    var pushes: [Int] = []
    story.world.ambient.advance(by: 120_000)
    let session = try story.device("a").session
    session.note(.syncWanted)
    while pushes.count < 12 {
      var isPush = false
      let calls = try cost {
        guard case .exchange(let exchange) = try session.next() else { return }
        isPush = exchange.isPush
        try session.take(.success(try story.serve(exchange, "a")), for: exchange)
      }
      if !isPush { break }
      pushes.append(calls)
      #expect(try cost { try story.add("a", "i1", 1) } == writes.last, "a write beside the drain")
    }
    #expect(pushes.count >= 12)
    #expect((pushes.max() ?? 0) <= 2 * (pushes.min() ?? 0), "\(pushes)")
    try story.store("a").withConnection { $0.monitor = nil }
    story.end()
    #expect(try story.server("SELECT sum(n) FROM item") == ["252"])
  }

  @Test(arguments: ["item", "doc"])
  func `B117 rows that both sides changed are settled in one pass, and others get each once`(_ table: String) throws {
    let story = try Story()
    for number in 10..<40 {
      try story.foreign("INSERT INTO \(table)(id, home, a) VALUES ('i\(number)', 'user:ana', 'old')")
    }
    try story.sync("a", "b")
    for number in 10..<40 { try story.write("a") { try $0.update(RowKey(table, .text("i\(number)")), ["a": "mine"]) } }
    try story.foreign("UPDATE \(table) SET a = 'theirs'")
    var (mine, others) = (Traffic(), Traffic())
    for _ in 0..<2 { try story.round("a", counting: &mine) }
    for _ in 0..<2 { try story.round("b", counting: &others) }
    #expect(mine.mostOffers == 1)
    #expect(mine.mostPuts <= 2)
    #expect(mine.pushes == 10)
    #expect(mine.pulls <= 3 * 16)
    #expect(others.mostPuts == 1)
    #expect(others.rows.count == 30)
    story.end()
    #expect(try story.screen("b", "SELECT DISTINCT a FROM \(table)") == [table == "item" ? "mine" : "theirs"])
    #expect(try story.refusals("a").count == (table == "item" ? 0 : 30))
  }

  @Test func `B118 the bytes of a day do not grow with the days`() throws {
    let story = try Story()
    var bytes: [Int] = []
    for day in 0..<12 {
      for number in 0..<2 {
        try story.foreign(
          "INSERT INTO item(id, home) VALUES ('d\(100 + day)n\(number)', '\(day % 2 == 0 ? "user:ben" : "user:ana")')")
      }
      var count = 0
      try story.round("a") { exchange in
        let answer = try story.serve(exchange, "a")
        count += answer.body.count + exchange.request.body.count
        return answer
      }
      bytes.append(count)
    }
    #expect((bytes.max() ?? 0) < 2 * (bytes.prefix(2).max() ?? 0), "\(bytes)")
    story.end()
  }

  @Test func `B118 a position that could not be saved is made good the next day`() throws {
    let story = try Story()
    var bytes: [Int] = []
    for day in 0..<8 {
      for number in 0..<2 {
        try story.foreign("INSERT INTO item(id, home) VALUES ('d\(100 + day)n\(number)', 'user:ana')")
      }
      if day == 4 {
        try story.store("a").withConnection { connection in
          connection.monitor = { sql in
            if sql.hasPrefix("UPDATE skerry_state") { throw SQLiteError(extendedCode: 8, message: "read-only") }
          }
        }
        #expect(throws: SQLiteError.self) { try story.sync("a") }
        try story.store("a").withConnection { $0.monitor = nil }
        continue
      }
      var traffic = Traffic()
      try story.round("a", counting: &traffic)
      bytes.append(traffic.bytes)
    }
    #expect((bytes.max() ?? 0) <= 2 * (bytes.first ?? 0) + 100, "\(bytes)")
    #expect((bytes.last ?? 0) <= (bytes.first ?? 0) + 100)
    story.end()
  }

  @Test func `B119 a new device gets rows once, however often they were changed`() throws {
    let story = try Story(["a": "ana"])
    for number in 0..<6 { try story.insert("a", "i\(number)") }
    try story.sync("a")
    for round in 0..<8 {
      for number in 0..<6 { try story.foreign("UPDATE item SET a = '\(round)' WHERE id = 'i\(number)'") }
      try story.world.server.sequence()
    }
    try story.foreign("INSERT INTO item(id, home) VALUES ('gone', 'user:ana')")
    try story.world.server.sequence()
    try story.foreign("DELETE FROM item WHERE id = 'gone'")
    try story.world.open("c", user: "ana")
    var puts: [RowKey] = []
    try story.round("c") { exchange in
      let answer = try story.serve(exchange, "c")
      if case .page(let page)? = story.page(answer) {
        for case .put(_, let row) in page.items where row.key.table == "item" { puts.append(row.key) }
      }
      return answer
    }
    #expect(puts.count == 6)
    #expect(Set(puts).count == 6)
    story.end()
  }
}
