// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore
import SkerryTesting
import SkerryWire
import Testing

/// Rows in the spaces of their parents, two generations down.
@Suite struct ParentTests {
  private let world: ServerWorld

  init() throws {
    world = try ServerWorld()
    try world.foreign(
      """
      INSERT INTO item(id, n, home) VALUES ('i', 0, 'user:ana'), ('k', 0, 'user:bob');
      INSERT INTO note(id, item) VALUES ('n', 'i'), ('m', 'i');
      INSERT INTO reply(id, note) VALUES ('r', 'n'), ('s', 'n')
      """)
  }

  private func caughtUp(_ user: AccountID) throws -> Cursor? {
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: user)
    return cursor
  }

  private let family = ["item/i", "note/m", "note/n", "reply/r", "reply/s"]

  @Test func `a parent that moves takes its children and theirs along`() throws {
    var (ana, bob) = (try caughtUp("ana"), try caughtUp("bob"))
    try world.foreign("UPDATE item SET home = 'user:bob' WHERE id = 'i'")
    #expect(Set(try world.catchUp(&ana, as: "ana").map(\.text)) == Set(family.map { "left \($0) in user:ana" }))
    #expect(Set(try world.catchUp(&bob, as: "bob").map(\.text)) == Set(family.map { "put \($0) in user:bob" }))
    #expect(try [world.server.digest(of: "user:ana").rows, world.server.digest(of: "user:bob").rows] == [0, 6])
  }

  @Test func `a parent that a device moves takes them along too`() throws {
    try world.foreign(
      "INSERT INTO team(id) VALUES ('t'); INSERT INTO member VALUES ('a', 't', 'ana'), ('b', 't', 'bob')")
    var bob = try caughtUp("bob")
    #expect(try world.judge([.set("item", "i", ["home": "team:t"])], as: "ana") == "confirmed")
    #expect(Set(try world.catchUp(&bob, as: "bob").map(\.text)) == Set(family.map { "put \($0) in team:t" }))
  }

  @Test func `a child that moves takes its own children along and leaves its brother`() throws {
    var (ana, bob) = (try caughtUp("ana"), try caughtUp("bob"))
    try world.foreign("UPDATE note SET item = 'k' WHERE id = 'n'")
    let moved = ["note/n", "reply/r", "reply/s"]
    #expect(Set(try world.catchUp(&ana, as: "ana").map(\.text)) == Set(moved.map { "left \($0) in user:ana" }))
    #expect(Set(try world.catchUp(&bob, as: "bob").map(\.text)) == Set(moved.map { "put \($0) in user:bob" }))
  }

  @Test func `a parent that is deleted leaves orphans in no space, and they come back with it`() throws {
    var ana = try caughtUp("ana")
    try world.foreign("DELETE FROM item WHERE id = 'i'")
    let gone = try world.catchUp(&ana, as: "ana").map(\.text)
    #expect(gone.first == "deleted item/i in user:ana" || gone.contains("deleted item/i in user:ana"))
    #expect(
      Set(gone).subtracting(["deleted item/i in user:ana"]) == Set(family.dropFirst().map { "left \($0) in user:ana" }))
    try world.foreign("INSERT INTO item(id, n, home) VALUES ('i', 0, 'user:ana')")
    #expect(Set(try world.catchUp(&ana, as: "ana").map(\.text)) == Set(family.map { "put \($0) in user:ana" }))
  }

  @Test func `a parent that changes within its space moves itself only`() throws {
    var ana = try caughtUp("ana")
    try world.foreign("UPDATE item SET title = 'x' WHERE id = 'i'")
    #expect(try world.catchUp(&ana, as: "ana").map(\.text) == ["put item/i in user:ana"])
  }

  @Test func `a second space of a parent is one of its children`() throws {
    var (ana, bob) = (try caughtUp("ana"), try caughtUp("bob"))
    try world.foreign("UPDATE item SET also = 'user:bob' WHERE id = 'i'")
    // The rows are in Ana's space as before, so she is told of the parent only, which has changed.
    #expect(Set(try world.catchUp(&ana, as: "ana").map(\.text)).isSuperset(of: ["put item/i in user:ana"]))
    #expect(Set(try world.catchUp(&bob, as: "bob").map(\.text)) == Set(family.map { "put \($0) in user:bob" }))
    try world.foreign("UPDATE item SET home = NULL WHERE id = 'i'")
    #expect(Set(try world.catchUp(&ana, as: "ana").map(\.text)) == Set(family.map { "left \($0) in user:ana" }))
  }

  @Test func `a child with two parents is in the spaces of both, and stays while one of them does`() throws {
    var ana = try caughtUp("ana")
    try world.foreign("UPDATE note SET other = 'k' WHERE id = 'm'")
    _ = try world.catchUp(&ana, as: "ana")
    var bob = try caughtUp("bob")
    try world.foreign("UPDATE item SET home = 'user:ana' WHERE id = 'k'")
    #expect(
      Set(try world.catchUp(&bob, as: "bob").map(\.text)) == ["left item/k in user:bob", "left note/m in user:bob"])
    let mine = Set(try world.catchUp(&ana, as: "ana").map(\.text))
    #expect(mine.contains("put item/k in user:ana"))
    #expect(!mine.contains("left note/m in user:ana"))
  }

  @Test func `parent and child that move apart in one transaction are each where they went`() throws {
    var (ana, bob) = (try caughtUp("ana"), try caughtUp("bob"))
    try world.foreign(
      """
      BEGIN; UPDATE item SET home = 'user:bob' WHERE id = 'i'; UPDATE item SET home = 'user:ana' WHERE id = 'k';
      UPDATE note SET item = 'k' WHERE id = 'n'; COMMIT
      """)
    let mine = Set(try world.catchUp(&ana, as: "ana").map(\.text))
    let theirs = Set(try world.catchUp(&bob, as: "bob").map(\.text))
    #expect(
      mine == [
        "left item/i in user:ana", "left note/m in user:ana", "put item/k in user:ana", "put note/n in user:ana",
      ])
    #expect(theirs == ["put item/i in user:bob", "put note/m in user:bob", "left item/k in user:bob"])
  }
}
