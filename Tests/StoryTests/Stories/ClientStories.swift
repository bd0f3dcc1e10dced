// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

/// FAULTS.md, section 2.6: what happens in the life of a device.
@Suite struct ClientStories {
  // MARK: Copies of a device

  @Test func `F-L07 an app that is installed anew is another replica, and gets all rows`() throws {
    let coast = try Coast()
    try coast.open("a")
    try coast.write("a") { try $0.insert("item", ["id": "i", "home": "user:ana"]) }
    try coast.settle()
    let old = try coast.store("a").replicaID
    try coast.open("a", file: "new.db")
    #expect(try coast.store("a").replicaID != old)
    expectAgreement(coast)
    #expect(try coast.rows("a", "SELECT id FROM item") == ["i"])
  }

  @Test func `F-L08 two devices from one backup: one takes a new id, and the work of both arrives once`() throws {
    let coast = try Coast()
    try coast.open("a")
    try coast.write("a") { try $0.insert("item", ["id": "i", "home": "user:ana", "n": 1]) }
    try coast.settle()
    // In the backup is work that was not sent.
    try coast.write("a") { try $0.increment(Story.item("i"), "n", by: 10) }
    try coast.copy("a", to: "b.db")
    try coast.open("b")
    #expect(try coast.store("a").replicaID == coast.store("b").replicaID)
    try coast.write("a") { try $0.increment(Story.item("i"), "n", by: 100) }
    try coast.write("b") { try $0.increment(Story.item("i"), "n", by: 1_000) }
    for name in ["a", "b", "a", "b"] { try coast.sync(name) }
    expectAgreement(coast)
    #expect(try coast.store("a").replicaID != coast.store("b").replicaID)
    #expect(try coast.rows("a", "SELECT n FROM item") == ["1111"])
    #expect(try Coast.text(coast.foreign, "SELECT n FROM item") == ["1111"])
  }

  @Test func `F-L09 a device that is put back to an older state goes on, and nothing is taken for a repeat`() throws {
    let coast = try Coast()
    try coast.open("a")
    try coast.open("other")
    try coast.write("a") { try $0.insert("item", ["id": "i", "home": "user:ana", "n": 1]) }
    try coast.settle()
    try coast.copy("a", to: "image.db")
    try coast.write("a") { try $0.increment(Story.item("i"), "n", by: 10) }
    try coast.settle()
    try coast.restore("a", from: "image.db")
    #expect(try coast.rows("a", "SELECT n FROM item") == ["1"])
    try coast.write("a") { try $0.increment(Story.item("i"), "n", by: 100) }
    try coast.write("a") { try $0.insert("item", ["id": "j", "home": "user:ana"]) }
    expectAgreement(coast)
    #expect(try coast.rows("other", "SELECT id, n FROM item ORDER BY id") == ["i 111", "j 0"])
    #expect(try coast.store("a").rejections().isEmpty)
  }

  // MARK: First sync

  @Test func `F-L11 B58 a first sync that is cut after every page goes on where it was`() throws {
    let story = try Story(["a": "ana"])
    for number in 10..<30 { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(number)', 'user:ana')") }
    try story.world.open("c", user: "ana")
    var pulls = 0
    while try story.screen("c").count < 20, pulls < 40 {
      guard let exchange = try story.ask("c") else { continue }
      pulls += 1
      try story.hear("c", try story.serve(exchange, "c"), exchange)
      try story.world.kill("c")
    }
    // Twenty-four rows and two receipts' spaces at four a page, and the reset that begins it.
    #expect(pulls <= 12)
    story.end()
  }

  @Test func `F-L12 B51 what is written during a first sync is neither missed nor doubled`() throws {
    let story = try Story(["a": "ana"])
    for number in 10..<24 { try story.foreign("INSERT INTO item(id, home, a) VALUES ('i\(number)', 'user:ana', '0')") }
    try story.world.open("c", user: "ana")
    var turn = 0
    try story.round("c") { exchange in
      turn += 1
      if turn < 8 {
        try story.foreign(
          "UPDATE item SET a = 'page \(turn)', n = n + 1 WHERE id IN ('i10', 'i15', 'i23')",
          "INSERT INTO item(id, home) VALUES ('h\(turn)', 'user:ana'), ('z\(turn)', 'user:ana')",
          "DELETE FROM item WHERE id IN ('i\(10 + turn)', 'h\(turn - 1)')")
      }
      return try story.serve(exchange, "c")
    }
    story.end()
  }

  @Test func `F-L13 no state that is published has a child without its parent, whatever the order of the pages`() throws
  {
    let story = try Story()
    for number in 1...6 {
      try story.foreign(
        "INSERT INTO item(id, home) VALUES ('i\(number)', 'user:ana')",
        "INSERT INTO note(id, parent) VALUES ('\(7 - number)', 'i\(number)'), ('x\(number)', 'i\(number)')",
        "INSERT INTO part(id, parent) VALUES ('a\(number)', 'x\(number)')")
    }
    let orphans = """
      SELECT id FROM note WHERE parent NOT IN (SELECT id FROM item)
      UNION SELECT id FROM part WHERE parent NOT IN (SELECT id FROM note)
      """
    for step in 0..<4 {
      switch step {
      case 1: try story.foreign("UPDATE note SET parent = 'i1' WHERE id = 'x6'", "DELETE FROM item WHERE id = 'i6'")
      case 2: try story.foreign("DELETE FROM note WHERE id = '1'", "DELETE FROM part WHERE parent = 'x2'")
      case 3: try story.foreign("DELETE FROM item WHERE id = 'i2'")
      default: break
      }
      try story.round("a") { exchange in
        #expect(try story.screen("a", orphans).isEmpty)
        return try story.serve(exchange, "a")
      }
      #expect(try story.screen("a", orphans).isEmpty)
    }
    story.end()
  }

  // MARK: Words of inserts and deletes

  /// Inserts and deletes in turn, up to six, beginning with either.
  private static let words = (1...6).flatMap { length in
    ["i", "d"].map { first in
      (0..<length).map { ($0 % 2 == 0) == (first == "i") ? "i" : "d" }.joined()
    }
  }

  @Test(arguments: [["a", "b"], ["b", "a"]])
  func `F-L17 F-L18 B22 inserts and deletes of one row, in one stretch, end as the last of them`(
    _ order: [String]
  ) throws {
    let story = try Story()
    for word in ClientStories.words where word.hasPrefix("d") { try story.insert("a", word, ["a": "before"]) }
    try story.sync("a", "b")
    for word in ClientStories.words {
      for (step, letter) in word.enumerated() {
        if letter == "d" { try story.delete("a", word) } else { try story.insert("a", word, ["b": .text("\(step)")]) }
      }
      // The other device edits the life that it knows.
      if word.hasPrefix("d") { try story.set("b", word, ["a": "edited"]) }
    }
    try story.sync(order[0], order[1])
    story.end()
    let expected = ClientStories.words.filter { $0.hasSuffix("i") }.sorted()
    for name in ["a", "b"] { #expect(try story.screen(name, "SELECT id FROM item ORDER BY id") == expected) }
    #expect(try story.server("SELECT id, a, b FROM item ORDER BY id") == expected.map { "\($0) - \($0.count - 1)" })
    #expect(try story.refusals("a").isEmpty, "no lone delete is left to be refused")
    #expect(Set(try story.refusals("b")) == (order == ["a", "b"] ? ["gone"] : []))
  }

  @Test func `F-L17 the same in one write`() throws {
    let story = try Story()
    for word in ClientStories.words where word.hasPrefix("d") { try story.insert("a", word, ["a": "before"]) }
    try story.sync("a", "b")
    for word in ClientStories.words {
      try story.write("a") { write in
        for (step, letter) in word.enumerated() {
          if letter == "d" {
            try write.delete(Story.item(word))
          } else {
            try write.insert("item", ["id": .text(word), "home": "user:ana", "b": .text("\(step)")])
          }
        }
      }
    }
    story.end()
    let expected = ClientStories.words.filter { $0.hasSuffix("i") }.sorted().map { "\($0) - \($0.count - 1)" }
    #expect(try story.screen("b", "SELECT id, a, b FROM item ORDER BY id") == expected)
  }

  // MARK: Work against work

  @Test func `F-L16 a create that is refused takes its twenty dependents along, and every value can be read`() throws {
    let story = try Story()
    try story.foreign("INSERT INTO item(id, home) VALUES ('i', 'user:ben')")
    try story.insert("a", "i")
    for number in 1...20 {
      if number % 2 == 0 {
        try story.add("a", "i", Int64(number))
      } else {
        try story.set("a", "i", ["a": .text("v\(number)")])
      }
    }
    try story.insert("a", "free")
    story.end()
    let refused = try story.store("a").rejections()
    #expect(refused.count == 21)
    #expect(refused.first?.code == .exists)
    #expect(refused.dropFirst().allSatisfy { $0.code == .gone || $0.code == .forbidden })
    #expect(
      Set(refused.flatMap(\.operations).flatMap(\.fields).compactMap(\.value.text)).isSuperset(of: ["v1", "v19"]))
    #expect(try story.screen("a") == ["free - 0"])
  }

  @Test func `F-L19 B01 an edit while the push of the same row is on its way stays pending`() throws {
    let story = try Story()
    try story.insert("a", "i", ["a": "one"])
    let push = try #require(try story.ask("a"))
    let answer = try story.serve(push, "a")
    let edit = try story.set("a", "i", ["a": "two"])
    try story.hear("a", answer, push)
    #expect(try story.store("a").ready(limit: 9) == [edit])
    #expect(try story.screen("a") == ["i two 0"])
    story.end()
    #expect(try story.screen("b") == ["i two 0"])
  }

  @Test(arguments: [["a", "b"], ["b", "a"]])
  func `F-L24 B18 a delete wins against an edit in every order, and the edit can still be read`(
    _ order: [String]
  ) throws {
    let story = try Story()
    for id in ["set", "counted", "both"] { try story.insert("a", id, ["a": "one"]) }
    try story.sync("a", "b")
    for id in ["set", "counted", "both"] {
      try story.delete("a", id)
      if id != "counted" { try story.set("b", id, ["a": "work"]) }
      if id != "set" { try story.add("b", id, 5) }
    }
    try story.sync(order[0], order[1])
    story.end()
    #expect(try story.server().isEmpty)
    #expect(try story.refusals("b") == (order[0] == "a" ? ["gone", "gone", "gone", "gone"] : []))
    let kept = try story.store("b").rejections().flatMap(\.operations).flatMap(\.fields)
    #expect(kept == (order[0] == "a" ? [Field("a", "work"), Field("a", "work")] : []))
  }

  @Test func `F-L21 a year away: what was deleted stays deleted, what was unsent arrives`() throws {
    let story = try Story()
    for id in ["kept", "deleted", "edited"] { try story.insert("a", id) }
    try story.sync("a", "b")
    try story.set("b", "kept", ["a": "unsent"])
    try story.set("b", "edited", ["a": "unsent"])
    try story.insert("b", "new")
    try story.delete("a", "deleted")
    try story.delete("a", "edited")
    try story.sync("a")
    story.world.ambient.advance(by: 366 * 86_400_000)
    try story.world.server.expire(upTo: story.world.server.history().head)
    try story.world.kill("b")
    story.end()
    #expect(try story.screen("a") == ["kept unsent 0", "new - 0"])
    #expect(try story.refusals("b") == ["gone"])
  }

  @Test func `F-L26 a page that cannot be read drops no work, and is asked for again`() throws {
    let story = try Story()
    let id = try story.insert("a", "i")
    try story.foreign("INSERT INTO item(id, home) VALUES ('j', 'user:ana')")
    for _ in 0..<4 {
      try story.round("a") { exchange in
        var answer = try story.serve(exchange, "a")
        if exchange.isPush { return answer }
        let text = String(decoding: answer.body, as: UTF8.self)
        answer.body = Array(text.replacing("\"put\"", with: "\"hologram\"").utf8)
        return answer
      }
      #expect(try story.store("a").outbox().map(\.id) == [id])
      #expect(try story.screen("a") == ["i - 0"])
    }
    #expect(try story.device("a").session.totals.undecodable > 0)
    story.end()
  }
}
