// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryWire
import Testing

/// CASES.md: changes that are missed, cost that grows, and a status that lies.
@Suite struct PullCases {
  @Test func `B50 rows whose times run the other way round all arrive, over several pages and tables`() throws {
    let story = try Story()
    for number in 0..<18 {
      try story.foreign(
        "INSERT INTO item(id, home, a) VALUES ('i\(10 + number)', 'user:ana', '\(100 - number)')",
        "INSERT INTO doc(id, home) VALUES ('d\(40 - number)', 'user:ana')")
    }
    story.end()
    #expect(try story.screen("a", "SELECT count(*) FROM item UNION ALL SELECT count(*) FROM doc") == ["18", "18"])
  }

  @Test func `B46 a change that the account may not see is no reason to begin anew`() throws {
    let story = try Story(["a": "ana", "c": "ben"])
    for number in 0..<6 {
      try story.insert("c", "x\(number)", home: "user:ben")
      try story.sync("c")
      try story.round("a") { exchange in
        let answer = try story.serve(exchange, "a")
        guard case .page? = story.page(answer) else {
          Issue.record("a reset")
          return answer
        }
        return answer
      }
    }
    story.end()
  }

  @Test func `B54 B65 a server that forgets all cursors costs one full read each time, and nothing changes here`()
    throws
  {
    let story = try Story()
    for number in 0..<6 { try story.insert("a", "i\(number)") }
    try story.sync("a", "b")
    let before = try story.screen("a")
    for life in 1...3 {
      try story.world.server.beginEpoch("life \(life)")
      try story.add("b", "i0", 1)
      var resets = 0
      for round in 0..<3 {
        try story.round("a") { exchange in
          let answer = try story.serve(exchange, "a")
          if case .reset? = story.page(answer) { resets += 1 }
          #expect(try story.screen("a").count == 6, "the screen is never empty")
          return answer
        }
        if round == 0 { try story.sync("b") }
      }
      #expect(resets == 1)
    }
    story.end()
    #expect(try story.screen("a").dropFirst() == before.dropFirst())
    #expect(try story.server("SELECT n FROM item WHERE id = 'i0'") == ["3"])
    #expect(try story.refusals("a").isEmpty)
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
