// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// CASES.md, parents and children, and rows that name others.
@Suite struct ReferenceCases {
  @Test func `B67 a parent goes with its children, and a child that moved away stays`() throws {
    let story = try Story()
    try story.write("a") { write in
      for id in ["v1", "v2"] { try write.insert("item", ["id": .text(id), "home": "user:ana"]) }
      for id in ["m1", "m2", "m3"] {
        try write.insert("note", ["id": .text(id), "parent": "v1"])
        for part in 0..<2 { try write.insert("part", ["id": .text("\(id)p\(part)"), "parent": .text(id)]) }
      }
    }
    try story.sync("a", "b")
    try story.write("a") { write in
      try write.update(Story.note("m3"), ["parent": "v2"])
      for id in ["m1", "m2"] {
        for part in 0..<2 { try write.delete(RowKey("part", .text("\(id)p\(part)"))) }
        try write.delete(Story.note(id))
      }
      try write.delete(Story.item("v1"))
    }
    story.end()
    #expect(
      try story.screen("b", "SELECT id FROM item UNION SELECT id FROM note UNION SELECT id FROM part") == [
        "m3", "m3p0", "m3p1", "v2",
      ])
    #expect(try story.refusals("a").isEmpty)
  }

  @Test func `B68 a reference to a row of the same push, or of the one before, is never empty`() throws {
    let story = try Story([:])
    try story.world.open("a", user: "ana", policy: TimingPolicy(batch: 1, page: 4))
    try story.world.open("b", user: "ana")
    try story.insert("a", "old")
    try story.write("a") { try $0.insert("note", ["id": "p", "parent": "old"]) }
    try story.sync("a", "b")
    try story.insert("a", "new")
    try story.write("a") { try $0.update(Story.note("p"), ["parent": "new"]) }
    try story.write("a") { write in
      try write.insert("item", ["id": "newer", "home": "user:ana"])
      try write.insert("note", ["id": "q", "parent": "newer"])
    }
    story.end()
    #expect(try story.screen("b", "SELECT id, parent FROM note ORDER BY id") == ["p new", "q newer"])
  }

  @Test func `B70 a new child arrives although its parent was changed on both sides`() throws {
    let story = try Story()
    try story.insert("a", "l", ["a": "List"])
    try story.sync("a", "b")
    try story.set("b", "l", ["a": "List B"])
    try story.set("a", "l", ["a": "List A"])
    try story.write("a") { try $0.insert("note", ["id": "r", "parent": "l"]) }
    try story.sync("b", "a")
    story.end()
    for name in ["a", "b"] { #expect(try story.screen(name, "SELECT id FROM note") == ["r"]) }
    #expect(try story.server("SELECT a FROM item") == ["List A"])
  }

  @Test func `B67 in one page a parent goes, another comes with children, and a child moves to it`() throws {
    let story = try Story()
    try story.write("a") { write in
      try write.insert("item", ["id": "v1", "home": "user:ana"])
      for id in ["m1", "m2", "m3"] {
        try write.insert("note", ["id": .text(id), "parent": "v1"])
        try write.insert("part", ["id": .text("p" + id), "parent": .text(id)])
      }
    }
    try story.sync("a", "b")
    try story.write("a") { write in
      // In an order that no foreign key would bear: the parents first.
      try write.delete(Story.item("v1"))
      for id in ["m1", "m2"] {
        try write.delete(Story.note(id))
        try write.delete(RowKey("part", .text("p" + id)))
      }
      try write.update(Story.note("m3"), ["parent": "v2"])
      try write.insert("note", ["id": "m4", "parent": "v2"])
      try write.insert("item", ["id": "v2", "home": "user:ana"])
    }
    story.end()
    let ids = "SELECT id FROM item UNION SELECT id FROM note UNION SELECT id FROM part ORDER BY id"
    for name in ["a", "b"] { #expect(try story.screen(name, ids) == ["m3", "m4", "pm3", "v2"]) }
    #expect(try story.refusals("a").isEmpty)
  }

  @Test func `B71 what goes with its parent is gone on every device, and a child that others added is refused`() throws
  {
    let story = try Story()
    try story.write("a") { write in
      try write.insert("item", ["id": "q", "home": "user:ana"])
      for number in 1...4 { try write.insert("note", ["id": .text("i\(number)"), "parent": "q"]) }
    }
    try story.sync("a", "b")
    try story.write("b") { try $0.insert("note", ["id": "i5", "parent": "q", "a": "of b"]) }
    try story.write("a") { write in
      try write.delete(Story.item("q"))
      for number in 1...4 { try write.delete(Story.note("i\(number)")) }
    }
    try story.sync("a")
    try story.world.open("c", user: "ana")
    try story.sync("c", "b")
    story.end()
    for name in ["a", "b", "c"] {
      #expect(try story.screen(name, "SELECT id FROM item UNION SELECT id FROM note").isEmpty)
    }
    #expect(try story.server("SELECT id FROM note").isEmpty, "an orphan that nobody sees")
    let refused = try story.store("b").rejections()
    #expect(refused.map(\.code) == [.forbidden])
    #expect(refused.flatMap(\.operations).flatMap(\.fields).contains(Field("a", "of b")))
  }

  @Test func `B72 a row whose parent nobody here may see waits on the server, and stops nothing`() throws {
    let story = try Story()
    try story.foreign(
      "INSERT INTO item(id, home) VALUES ('m9', 'user:ana'), ('m99', 'team:u')",
      "INSERT INTO note(id, parent) VALUES ('x1', 'm9'), ('x2', 'm99'), ('x3', 'nowhere')")
    for number in 10..<30 { try story.foreign("INSERT INTO item(id, home) VALUES ('o\(number)', 'user:ana')") }
    var traffic = Traffic()
    try story.round("a", counting: &traffic)
    #expect(try story.screen("a", "SELECT id FROM note") == ["x1"])
    let first = traffic.pulls
    try story.round("a", counting: &traffic)
    #expect(traffic.pulls == first + 1, "it asks for what it cannot have")
    try story.foreign("INSERT INTO member(id, team, user) VALUES ('au', 'u', 'ana')")
    try story.sync("a")
    #expect(try story.screen("a", "SELECT id FROM note ORDER BY id") == ["x1", "x2"])
    try story.foreign("INSERT INTO item(id, home) VALUES ('nowhere', 'user:ana')")
    story.end()
    #expect(try story.screen("b", "SELECT id FROM note ORDER BY id") == ["x1", "x2", "x3"])
  }

  @Test func `B72 a row that names one of another space is here without it`() throws {
    let story = try Story()
    try story.foreign(
      "INSERT INTO item(id, home) VALUES ('unseen', 'user:ben')",
      "INSERT INTO item(id, home, b) VALUES ('i', 'user:ana', 'unseen'), ('j', 'user:ana', 'never')")
    story.end()
    #expect(try story.screen("a", "SELECT id, b FROM item ORDER BY id") == ["i unseen", "j never"])
  }
}
