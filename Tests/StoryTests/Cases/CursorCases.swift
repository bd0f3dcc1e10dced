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

/// CASES.md, changes that a cursor misses.
@Suite struct CursorCases {
  @Test(arguments: [false, true])
  func `B42 a transaction that ends late is seen whole, or not at all if it is rolled back`(_ isKept: Bool) throws {
    let story = try Story()
    try story.foreign("INSERT INTO item(id, home) VALUES ('r1', 'user:ana'), ('r2', 'user:ana')")
    try story.sync("a", "b")
    try story.world.foreign.execute("BEGIN IMMEDIATE")
    try story.world.foreign.execute("UPDATE item SET a = 'late' WHERE id = 'r1'")
    let before = try story.store("a").cursor?.position
    for _ in 0..<3 {
      try story.round("a", limit: 4) { try story.serve($0, "a") }
      #expect(try story.screen("a", "SELECT a FROM item WHERE id = 'r1'") == ["-"])
    }
    #expect(try story.store("a").cursor?.position == before)
    try story.world.foreign.execute(isKept ? "COMMIT" : "ROLLBACK")
    try story.foreign("UPDATE item SET a = 'later' WHERE id = 'r2'")
    story.end()
    #expect(try story.screen("a") == ["r1 \(isKept ? "late" : "-") 0", "r2 later 0"])
  }

  @Test func `B43 changes of one and the same second arrive, a pull between any two`() throws {
    let story = try Story()
    try story.foreign("INSERT INTO item(id, home) VALUES ('d1', 'user:ana'), ('e1', 'user:ana')")
    try story.world.sync("a")
    try story.foreign("DELETE FROM item WHERE id = 'd1'")
    try story.foreign("UPDATE item SET a = '0' WHERE id = 'e1'")
    try story.world.sync("a")
    #expect(try story.screen("a") == ["e1 0 0"])
    let now = story.world.ambient.now()
    for number in 1...10 {
      try story.foreign("UPDATE item SET a = '\(number)' WHERE id = 'e1'")
      try story.world.sync("a")
      #expect(try story.screen("a") == ["e1 \(number) 0"])
    }
    #expect(story.world.ambient.now() == now)
    story.end()
  }

  @Test(arguments: [1, 4, 12])
  func `B44 rows that are equal in all but their ids come once each in a full walk, whatever the size of a page`(
    _ page: Int
  ) throws {
    let story = try Story(["a": "ana"])
    let rows = (0..<48).map { "('\($0 % 3)\(String(repeating: "0", count: $0 % 5))\($0)', 'user:ana', 'same')" }
    try story.foreign("INSERT INTO item(id, home, a) VALUES \(rows.joined(separator: ", "))")
    try story.world.open("c", user: "ana", policy: TimingPolicy(batch: 3, page: page))
    var traffic = Traffic()
    while try story.store("c").syncedAt == nil {
      // The cursor goes through JSON with each request, and through the file with each death.
      try story.round("c", counting: &traffic, limit: 3)
      let held = try story.store("c").cursor
      try story.world.kill("c")
      #expect(try story.store("c").cursor == held)
      try story.world.open("c", user: "ana", policy: TimingPolicy(batch: 3, page: page))
      if traffic.pulls > 200 { throw WorldError("the walk does not end") }
    }
    #expect(traffic.rows.filter { $0.table == "item" }.count == 48)
    #expect(traffic.mostPuts == 1)
    story.end()
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

  @Test func `B47 a device is never in conflict with its own pushes, and its echo changes nothing`() throws {
    let story = try Story()
    let key = RowKey("doc", .text("d"))
    try story.write("a") { try $0.insert("doc", ["id": "d", "home": "user:ana"]) }
    try story.sync("a")
    var pushes = 0
    for number in 1...50 {
      try story.write("a") { try $0.update(key, ["a": .text("\(number)")]) }
      // Push only: the page that tells of it never comes.
      var exchange = try #require(try story.ask("a"))
      while exchange.isPush {
        pushes += 1
        try story.hear("a", try story.serve(exchange, "a"), exchange)
        exchange = try #require(try story.ask("a"))
      }
      try story.fail("a", exchange)
    }
    #expect(pushes == 50)
    let before = try story.screen("a", "SELECT id, a, b, n FROM doc")
    try story.sync("a")
    #expect(try story.screen("a", "SELECT id, a, b, n FROM doc") == before)
    #expect(try story.store("a").outbox().isEmpty)
    story.end()
    #expect(try story.refusals("a").isEmpty)
    #expect(try story.server("SELECT a FROM doc") == ["50"])
  }

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

  @Test func `B51 a device that dies between pages of its first load, or loads anew with work waiting, misses nothing`()
    throws
  {
    let story = try Story(["b": "ana"])
    for number in 10..<30 { try story.foreign("INSERT INTO item(id, home, a) VALUES ('i\(number)', 'user:ana', '0')") }
    try story.sync("b")
    for life in 0..<2 {
      if life == 0 {
        try story.world.open("c", user: "ana")
      } else {
        // The same device again, with work that waits, and a server that knows its position no more.
        try story.sync("c")
        try story.set("c", "i20", ["a": "unsent"])
        try story.insert("c", "new")
        try story.world.server.beginEpoch("life \(life)")
      }
      for page in 0..<5 {
        guard let exchange = try story.ask("c") else { continue }
        try story.hear("c", try story.serve(exchange, "c"), exchange)
        try story.foreign(
          "DELETE FROM item WHERE id = 'i\(10 + life * 5 + page)'", "UPDATE item SET b = '\(page)' WHERE id = 'i25'",
          "INSERT INTO item(id, home) VALUES ('h\(life)\(page)', 'user:ana')")
        try story.sync("b")
        try story.world.kill("c")
      }
    }
    story.end()
    #expect(try story.screen("b", "SELECT id, a FROM item WHERE id IN ('i20', 'new')") == ["i20 unsent", "new -"])
    #expect(try story.refusals("c").isEmpty)
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

  @Test func `B54 a device that dies at the end of a full read does not read all of it again`() throws {
    let story = try Story(["a": "ana"])
    for number in 10..<26 { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(number)', 'user:ana')") }
    try story.sync("a")
    try story.world.server.beginEpoch("second")
    var traffic = Traffic()
    while traffic.rows.filter({ $0.table == "item" }).count < 16 { try story.round("a", counting: &traffic, limit: 1) }
    try story.world.kill("a")
    for _ in 0..<3 { try story.round("a", counting: &traffic) }
    #expect(traffic.resets == 1)
    #expect(traffic.mostPuts == 1)
    story.end()
    #expect(try story.store("a").lostSpaces().isEmpty)
  }
}
