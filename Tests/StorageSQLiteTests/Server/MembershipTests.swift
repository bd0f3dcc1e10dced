// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore
import SkerryTesting
import SkerryWire
import Testing

/// Spaces that an account gains, loses and gains again.
@Suite struct MembershipTests {
  private let world: ServerWorld

  init() throws {
    world = try ServerWorld()
    try world.foreign(
      """
      INSERT INTO team(id) VALUES ('t1'); INSERT INTO member VALUES ('b', 't1', 'bob');
      INSERT INTO item(id, n, home) VALUES ('i', 0, 'team:t1'), ('j', 0, 'team:t1')
      """)
  }

  private func items(_ cursor: inout Cursor?, limit: Int = 1_000) throws -> [String] {
    try world.catchUp(&cursor, as: "ana", limit: limit).map(\.text)
  }

  private func caughtUp() throws -> Cursor? {
    var cursor: Cursor?
    _ = try items(&cursor)
    return cursor
  }

  private let whole = [
    "filled team:t1", "gain team:t1", "put item/i in team:t1", "put item/j in team:t1", "put member/a in team:t1",
    "put member/b in team:t1", "put team/t1 in team:t1",
  ]

  @Test(arguments: [1, 2, 3, 100]) func `a gained space is told first and then filled, whatever the limit`(
    _ limit: Int
  ) throws {
    var cursor = try caughtUp()
    try world.foreign("INSERT INTO member VALUES ('a', 't1', 'ana')")
    let found = try items(&cursor, limit: limit)
    #expect(found.first == "gain team:t1")
    #expect(Set(found) == Set(whole))
    #expect(found.count { $0.hasPrefix("gain") || $0.hasPrefix("filled") } == 2)
    #expect(found.last == "filled team:t1")
  }

  @Test func `a lost space is told in one line, and nothing of it any more`() throws {
    try world.foreign("INSERT INTO member VALUES ('a', 't1', 'ana')")
    var cursor = try caughtUp()
    try world.foreign("DELETE FROM member WHERE id = 'a'; UPDATE item SET title = 'after'")
    #expect(try items(&cursor) == ["lose team:t1"])
    try world.foreign("UPDATE item SET title = 'later'; DELETE FROM item WHERE id = 'j'")
    #expect(try items(&cursor).isEmpty)
  }

  @Test func `a space that is regained is filled again`() throws {
    try world.foreign("INSERT INTO member VALUES ('a', 't1', 'ana')")
    var cursor = try caughtUp()
    try world.foreign("DELETE FROM member WHERE id = 'a'")
    #expect(try items(&cursor) == ["lose team:t1"])
    try world.foreign("INSERT INTO member VALUES ('a', 't1', 'ana')")
    #expect(Set(try items(&cursor)) == Set(whole))
  }

  @Test func `a space that was lost and regained between two pulls is told as gained, and filled again`() throws {
    try world.foreign("INSERT INTO member VALUES ('a', 't1', 'ana')")
    var cursor = try caughtUp()
    try world.foreign("DELETE FROM member WHERE id = 'a'")
    try world.server.sequence()
    try world.foreign("DELETE FROM item WHERE id = 'j'")
    try world.server.sequence()
    try world.foreign("INSERT INTO member VALUES ('a', 't1', 'ana')")
    #expect(Set(try items(&cursor)) == Set(whole).subtracting(["put item/j in team:t1"]))
  }

  @Test func `a membership that two rows give is gained once and lost with the last of them`() throws {
    var cursor = try caughtUp()
    try world.foreign("INSERT INTO member VALUES ('a', 't1', 'ana'), ('a2', 't1', 'ana')")
    #expect(try items(&cursor).count { $0 == "gain team:t1" } == 1)
    try world.foreign("DELETE FROM member WHERE id = 'a'")
    #expect(try items(&cursor) == ["deleted member/a in team:t1"])
    try world.foreign("INSERT INTO member VALUES ('a', 't1', 'ana')")
    #expect(try items(&cursor) == ["put member/a in team:t1"])
    try world.foreign("DELETE FROM member WHERE account = 'ana'")
    #expect(try items(&cursor) == ["lose team:t1"])
  }

  @Test func `a membership that passes from row to row in one transaction, or between runs, is no transition`() throws {
    try world.foreign("INSERT INTO member VALUES ('a', 't1', 'ana')")
    var cursor = try caughtUp()
    try world.foreign("BEGIN; DELETE FROM member WHERE id = 'a'; INSERT INTO member VALUES ('c', 't1', 'ana'); COMMIT")
    #expect(Set(try items(&cursor)) == ["deleted member/a in team:t1", "put member/c in team:t1"])
    try world.foreign("DELETE FROM member WHERE id = 'c'")
    try world.foreign("INSERT INTO member VALUES ('c', 't1', 'ana')")
    #expect(try items(&cursor) == ["put member/c in team:t1"])
    try world.foreign("UPDATE member SET id = 'd' WHERE id = 'c'")
    #expect(Set(try items(&cursor)) == ["deleted member/c in team:t1", "put member/d in team:t1"])
  }

  @Test func `a membership that is given to somebody else is lost by one and gained by the other`() throws {
    try world.foreign("INSERT INTO member VALUES ('a', 't1', 'ana')")
    var mine = try caughtUp()
    var theirs: Cursor?
    _ = try world.catchUp(&theirs, as: "cat")
    try world.foreign("UPDATE member SET account = 'cat' WHERE id = 'a'")
    #expect(try items(&mine) == ["lose team:t1"])
    #expect(Set(try world.catchUp(&theirs, as: "cat").map(\.text)) == Set(whole))
  }

  @Test func `a membership that moves to another space loses one and gains the other in one page`() throws {
    try world.foreign("INSERT INTO team(id) VALUES ('t2'); INSERT INTO member VALUES ('a', 't1', 'ana')")
    var cursor = try caughtUp()
    try world.foreign("UPDATE member SET team = 't2' WHERE id = 'a'")
    let found = try items(&cursor)
    #expect(
      Set(found) == [
        "lose team:t1", "gain team:t2", "put member/a in team:t2", "put team/t2 in team:t2", "filled team:t2",
      ])
  }

  @Test func `a row that leaves for another space of the account is told to stay`() throws {
    try world.foreign("INSERT INTO member VALUES ('a', 't1', 'ana')")
    var cursor = try caughtUp()
    try world.foreign("UPDATE item SET home = 'user:ana' WHERE id = 'i'")
    #expect(try items(&cursor) == ["put item/i in user:ana", "left item/i in team:t1, still user:ana"])
    try world.foreign("UPDATE item SET home = 'user:bob' WHERE id = 'i'")
    #expect(try items(&cursor) == ["left item/i in user:ana"])
  }

  @Test func `a writer's own membership is told with what they write`() throws {
    var cursor = try caughtUp()
    let steps: [Step] = [
      .insert("team", "t9", [:]), .insert("member", "m", ["team": "t9", "account": "ana"]),
      .insert("item", "x", ["home": "team:t9"]),
    ]
    #expect(try world.judge(steps, as: "ana") == "confirmed")
    let found = try items(&cursor)
    #expect(found.contains("gain team:t9") && found.contains("receipt confirmed"))
    #expect(Set(found.filter { $0.hasPrefix("put") }).count == 3)
  }
}
