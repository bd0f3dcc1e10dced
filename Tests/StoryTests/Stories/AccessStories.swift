// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// FAULTS.md, F-S15: access that is given, taken, and given again.
@Suite struct AccessStories {
  /// Ana has a device, and Ben has one; twelve rows in their team, so that they take several pages.
  private func story() throws -> Story {
    let story = try Story(["a": "ana", "b": "ben"])
    for number in 10..<22 {
      try story.foreign("INSERT INTO item(id, home, a) VALUES ('i\(number)', 'team:t', 'secret')")
    }
    return story
  }

  @Test
  func `F-S15a access that is taken between any two pages takes the rows, and the refusal of unsent work is shown`()
    throws
  {
    for cut in 0..<5 {
      let story = try story()
      if cut == 4 { try story.sync("a") }
      let team = RowKey("team", .text("t"))
      try story.write("a") { try $0.update(team, ["a": "mine"]) }
      var pages = 0
      try story.round("a") { exchange in
        if pages == cut % 4 { try story.foreign("DELETE FROM member WHERE id = 'at'") }
        pages += 1
        return try story.serve(exchange, "a")
      }
      story.end()
      #expect(try story.screen("a", "SELECT id FROM item UNION SELECT id FROM team").isEmpty)
      #expect(try story.store("a").lostSpaces() == ["team:t"])
      #expect(try story.server("SELECT a FROM team WHERE id = 't'") == (cut % 4 == 0 ? ["-"] : ["mine"]))
      if cut % 4 == 0 { #expect(try story.refusals("a") == ["forbidden"]) }
    }
  }

  @Test func `F-S15a B83 what was taken while the device was off leaves no byte of others' values in its file`() throws
  {
    let story = try story()
    try story.sync("a")
    try story.set("a", "i10", ["a": "my own words"])
    try story.foreign("DELETE FROM member WHERE id = 'at'")
    story.end()
    #expect(story.world.files(of: "a", containing: "secret").isEmpty)
    #expect(story.world.files(of: "a", containing: "my own words") != [])
    #expect(try story.refusals("a") == ["forbidden"])
    #expect(try story.store("a").rejections().first?.operations.first?.fields == [Field("a", "my own words")])
  }

  @Test func `F-S15b B83 access that is given brings rows that are older than the cursor`() throws {
    let story = try story()
    try story.foreign(
      "INSERT INTO item(id, home) VALUES ('old', 'team:u')", "INSERT INTO note(id, parent) VALUES ('n', 'old')")
    for _ in 0..<5 {
      try story.insert("a", "x\(try story.server().count)")
      try story.sync("a", "b")
    }
    #expect(try story.screen("a", "SELECT count(*) FROM item WHERE id = 'old'") == ["0"])
    try story.foreign("INSERT INTO member(id, team, user) VALUES ('au', 'u', 'ana')")
    story.end()
    #expect(
      try story.screen("a", "SELECT id FROM item WHERE id = 'old' UNION ALL SELECT id FROM note") == ["old", "n"])
  }

  @Test func `F-S15c taken and given again before the device looks, with changes between`() throws {
    let story = try story()
    try story.sync("a")
    try story.foreign("DELETE FROM member WHERE id = 'at'")
    try story.sync("b")
    try story.foreign("DELETE FROM item WHERE id = 'i10'", "UPDATE item SET a = 'new' WHERE id = 'i11'")
    try story.foreign("INSERT INTO item(id, home) VALUES ('i99', 'team:t')")
    try story.sync("b")
    try story.foreign("INSERT INTO member(id, team, user) VALUES ('at', 't', 'ana')")
    story.end()
    #expect(try story.screen("a", "SELECT count(*), sum(a = 'new'), sum(id = 'i10') FROM item") == ["12 1 0"])
  }

  @Test func `F-S15c B27 a row that moves between spaces lives once, in its last one, for everybody who may see it`()
    throws
  {
    let story = try story()
    try story.foreign("INSERT INTO note(id, parent) VALUES ('n', 'i10')")
    try story.sync("a", "b")
    for home in ["team:u", "team:t", "team:u", "user:ben", "team:t"] {
      try story.set("b", "i10", ["home": .text(home)])
      try story.sync("b", "a")
      let isSeen = home == "team:t"
      #expect(try story.screen("a", "SELECT count(*) FROM item WHERE id = 'i10'") == [isSeen ? "1" : "0"])
      #expect(try story.screen("a", "SELECT count(*) FROM note") == [isSeen ? "1" : "0"])
    }
    // Twice while Ana is off.
    for home in ["team:u", "team:t"] {
      try story.set("b", "i10", ["home": .text(home)])
      try story.sync("b")
    }
    story.end()
    #expect(try story.screen("a", "SELECT home FROM item WHERE id = 'i10'") == ["team:t"])
  }

  @Test func `F-S15c a row in two of the account's spaces stays when one is taken, and children follow their parents`()
    throws
  {
    let story = try story()
    try story.foreign(
      "INSERT INTO member(id, team, user) VALUES ('au', 'u', 'ana')",
      "INSERT INTO item(id, home, also) VALUES ('both', 'team:t', 'team:u')",
      "INSERT INTO note(id, parent) VALUES ('n', 'both'), ('m', 'i10')",
      "INSERT INTO part(id, parent) VALUES ('p', 'n')")
    try story.sync("a")
    #expect(try story.screen("a", "SELECT id FROM note ORDER BY id") == ["m", "n"])
    try story.foreign("DELETE FROM member WHERE id = 'at'")
    story.end()
    #expect(
      try story.screen("a", "SELECT id FROM item UNION ALL SELECT id FROM note UNION ALL SELECT id FROM part") == [
        "both", "n", "p",
      ])
    try story.foreign("UPDATE item SET also = NULL WHERE id = 'both'")
    story.end()
    #expect(
      try story.screen("a", "SELECT id FROM item UNION ALL SELECT id FROM note UNION ALL SELECT id FROM part").isEmpty)
  }

  @Test func `B83 nobody keeps the right to write by being off while it is taken`() throws {
    let story = try story()
    try story.sync("a")
    try story.add("a", "i10", 5)
    try story.insert("a", "new", home: "team:t")
    try story.foreign("DELETE FROM member WHERE id = 'at'")
    story.end()
    #expect(try story.refusals("a") == ["forbidden", "forbidden"])
    #expect(try story.server("SELECT sum(n), count(*) FROM item") == ["0 12"])
  }
}
