// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTesting
import SkerryWire
import Testing

/// Pages: how they are cut, where they must end, and what a back-fill makes of rows that move meanwhile.
@Suite struct PagingTests {
  private let world: ServerWorld

  init() throws { world = try ServerWorld() }

  private func insert(_ ids: some Sequence<Int>, home: String = "user:ana") throws {
    for id in ids {
      try world.foreign("INSERT INTO item(id, n, home) VALUES ('\(id < 10 ? "0" : "")\(id)', 0, '\(home)')")
    }
  }

  @Test func `the first pull is a reset that names the account's spaces, receipts to be filled first`() throws {
    try world.foreign("INSERT INTO team(id) VALUES ('t1'); INSERT INTO member VALUES ('m', 't1', 'ana')")
    try world.foreign("INSERT INTO notice(id) VALUES ('x')")
    guard case .reset(let reset) = try world.pull(nil, as: "ana", replicas: ["old", "new"]) else {
      Issue.record("a reset was expected")
      return
    }
    #expect(reset.reason == .first)
    #expect(reset.spaces == ["user:ana", "city:all", "team:t1"])
    #expect(reset.cursor.open.map(\.space) == ["replica:old", "replica:new", "user:ana", "city:all", "team:t1"])
    #expect(reset.cursor.owner == ["old", "new"])
    #expect(reset.cursor.position == reset.cursor.head)
  }

  @Test(arguments: [1, 2, 3, 5, 7, 100, 0, -1, Int.max])
  func `a catch-up brings the same rows whatever the limit of a page`(_ limit: Int) throws {
    try insert(0..<12)
    var cursor: Cursor?
    let first = try world.catchUp(&cursor, as: "ana", limit: limit)
    #expect(Set(first.map(\.text).filter { $0.hasPrefix("put") }).count == 12)
    try insert(12..<20)
    try world.foreign("DELETE FROM item WHERE id < '04'; UPDATE item SET home = 'user:bob' WHERE id = '05'")
    try world.foreign("UPDATE item SET title = 'x' WHERE id = '06'")
    let second = try world.catchUp(&cursor, as: "ana", limit: limit).map(\.text)
    let expected =
      (0..<4).map { "deleted item/0\($0) in user:ana" } + ["left item/05 in user:ana", "put item/06 in user:ana"]
      + (12..<20).map { "put item/\($0) in user:ana" }
    #expect(second.sorted() == expected.sorted())
    #expect(try world.catchUp(&cursor, as: "ana", limit: limit).isEmpty)
  }

  @Test(arguments: [1, 2, 3, 7])
  func `a page has no more changes than its limit, and does not close before all are told`(
    _ limit: Int
  ) throws {
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    try insert(0..<10)
    var told = 0
    while true {
      guard case .page(let page) = try world.pull(cursor, as: "ana", limit: limit) else { break }
      #expect(page.items.count <= limit)
      told += page.items.count
      cursor = page.cursor
      #expect(page.closes == (told == 10))
      if page.closes { break }
      #expect(page.items.count == limit)
      #expect(page.digests.isEmpty)
    }
    #expect(told == 10)
  }

  @Test func `an empty pull closes, and its cursor names the newest run`() throws {
    try insert(0..<3)
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    let before = cursor
    #expect(try world.catchUp(&cursor, as: "ana").isEmpty)
    #expect(cursor == before)
    #expect(try cursor?.head == world.server.history().head)
  }

  @Test func `a page ends before a row that was changed since and is not sequenced yet`() throws {
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    for id in 0..<6 {
      try insert([id])
      try world.server.sequence()
    }
    // A commit after the sequencer, and then a lock that keeps it from running.
    try world.foreign("UPDATE item SET title = 'late' WHERE id = '03'")
    try world.foreign("BEGIN IMMEDIATE")
    var told: [String] = []
    for _ in 0..<5 {
      guard case .page(let page) = try world.pull(cursor, as: "ana", limit: 2) else { continue }
      #expect(!page.closes)
      told += page.items.map(\.text)
      cursor = page.cursor
    }
    #expect(told == (0..<3).map { "put item/0\($0) in user:ana" })
    try world.foreign("ROLLBACK")
    let rest = try world.catchUp(&cursor, as: "ana", limit: 2).map(\.text)
    #expect(rest == [4, 5, 3].map { "put item/0\($0) in user:ana" })
  }

  @Test func `a page that cannot go on is empty and stays where it is`() throws {
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    try insert([1])
    try world.server.sequence()
    try world.foreign("UPDATE item SET title = 'late'")
    try world.foreign("BEGIN IMMEDIATE")
    let before = cursor
    guard case .page(let page) = try world.pull(cursor, as: "ana") else { return }
    #expect(page.items.isEmpty && !page.closes)
    #expect(page.cursor.position == before?.position)
    try world.foreign("ROLLBACK")
  }

  @Test func `while a writer has not committed, the page closes on what was committed before`() throws {
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    try insert([1])
    try world.server.sequence()
    try world.foreign("BEGIN IMMEDIATE; UPDATE item SET title = 'open'")
    guard case .page(let page) = try world.pull(cursor, as: "ana") else { return }
    #expect(page.closes)
    #expect(page.items.map(\.text) == ["put item/01 in user:ana"])
    try world.foreign("COMMIT")
  }

  @Test func `a back-fill ends before a row that is not sequenced yet, and goes on when it is`() throws {
    try insert(0..<5)
    guard case .reset(let reset) = try world.pull(nil, as: "ana") else { return }
    try world.foreign("UPDATE item SET title = 'late' WHERE id = '02'")
    try world.foreign("BEGIN IMMEDIATE")
    guard case .page(let page) = try world.pull(reset.cursor, as: "ana") else { return }
    #expect(page.items.map(\.text).filter { $0.contains("item") } == (0..<2).map { "put item/0\($0) in user:ana" })
    #expect(!page.closes)
    try world.foreign("ROLLBACK")
    var cursor: Cursor? = page.cursor
    let rest = try world.catchUp(&cursor, as: "ana").map(\.text).filter { $0.hasPrefix("put") }
    #expect(rest.sorted() == (2..<5).map { "put item/0\($0) in user:ana" })
  }

  @Test func `a back-fill walks keys, so that rows that move between its pages come once as they are`() throws {
    try insert((0..<20).filter { $0 % 2 == 0 })
    guard case .reset(let reset) = try world.pull(nil, as: "ana") else { return }
    var cursor = reset.cursor
    var known: [String: String] = [:]
    let moves = [
      "UPDATE item SET title = 'before' WHERE id = '00'", "UPDATE item SET title = 'behind' WHERE id = '18'",
      "INSERT INTO item(id, n, home) VALUES ('01', 0, 'user:ana'), ('19', 0, 'user:ana')",
      "DELETE FROM item WHERE id = '02'",
      "DELETE FROM item WHERE id = '16'", "UPDATE item SET home = 'user:bob' WHERE id IN ('04', '14')",
      "UPDATE item SET id = '03' WHERE id = '12'", "UPDATE item SET home = 'user:ana' WHERE id IN ('04', '14')",
    ]
    for round in 0..<60 {
      if round < moves.count { try world.foreign(moves[round]) }
      guard case .page(let page) = try world.pull(cursor, as: "ana", limit: 1) else { break }
      cursor = page.cursor
      for item in page.items {
        switch item {
        case .put(_, let image): known[image.key.description] = image.values[0].text ?? "-"
        case .deleted(_, let key), .left(_, let key, _): known[key.description] = nil
        default: break
        }
      }
      if page.closes, cursor.open.isEmpty { break }
    }
    let rows = try world.sqlite.foreign.query("SELECT id, title FROM item WHERE home = 'user:ana'") { row in
      ("item/" + row.text(0), row.isNull(1) ? "-" : row.text(1))
    }
    #expect(cursor.open.isEmpty)
    #expect(known == Dictionary(uniqueKeysWithValues: rows))
  }

  @Test func `receipts are told in a replica's own space, in the order of the run`() throws {
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    #expect(try world.judge([.insert("item", "a", ["home": "user:ana"])], as: "ana") == "confirmed")
    #expect(try world.judge([.insert("item", "b", ["home": "user:bob"])], as: "ana") == "rejected forbidden")
    let items = try world.catchUp(&cursor, as: "ana").map(\.text)
    #expect(items.sorted() == ["put item/a in user:ana", "receipt confirmed", "receipt rejected"])
    var other: Cursor?
    #expect(
      try world.catchUp(&other, as: "ana", replicas: ["tablet"]).map(\.text).filter { $0.contains("receipt") } == [])
    var refill: Cursor?
    #expect(try world.catchUp(&refill, as: "ana").count { $0.text.hasPrefix("receipt") } == 2)
  }

  @Test func `an account sees nothing of others' spaces, whatever its cursor names`() throws {
    try insert(0..<3, home: "user:bob")
    try world.foreign("INSERT INTO team(id) VALUES ('t2'); INSERT INTO member VALUES ('m', 't2', 'bob')")
    try world.foreign("INSERT INTO item(id, n, home) VALUES ('secret', 0, 'team:t2')")
    #expect(try world.judge([.insert("item", "x", ["home": "user:bob"])], as: "bob") == "confirmed")
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    var forged = try #require(cursor)
    forged.position = 0
    forged.open = ["user:bob", "team:t2", "replica:phone of bob", "replica:phone of ana"].map {
      OpenSpace(space: $0, target: .max)
    }
    var asked: Cursor? = forged
    let items = try world.catchUp(&asked, as: "ana").map(\.text)
    #expect(items == ["filled replica:phone of ana"])
  }

  @Test
  func `a cursor that names a hundred thousand spaces of others costs little, and one that names more is refused`()
    throws
  {
    for number in 0..<200 {
      try world.foreign("INSERT INTO member(id, team, account) VALUES ('m\(number)', 't\(number)', 'ana')")
    }
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    var forged = try #require(cursor)
    // With gains to be told as well.
    forged.position = 0
    forged.open = (0..<Limits.openSpaces).map { OpenSpace(space: SpaceID("team:x\($0)"), target: 0) }
    let time = try ContinuousClock().measure {
      guard case .page(let page) = try world.pull(forged, as: "ana") else { return #expect(Bool(false), "no page") }
      #expect(page.closes)
      #expect(page.items.count { $0.text.hasPrefix("filled") } == 200)
    }
    // Far from what comparing each of the account's spaces with each in the cursor takes; these tests run unoptimised.
    #expect(time < .seconds(5), "\(time)")
    forged.open.append(OpenSpace(space: "team:one too many", target: 0))
    #expect(throws: RequestError.self) { try world.pull(forged, as: "ana") }
  }

  @Test func `a cursor below the floor has expired, one of another history is told so, others are served`() throws {
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    try insert(0..<3)
    try world.foreign("DELETE FROM item WHERE id = '00'")
    _ = try world.server.sequence()
    let old = cursor
    _ = try world.catchUp(&cursor, as: "ana")
    try world.server.expire(upTo: .max)
    #expect(try reason(old) == .expired)
    #expect(try reason(cursor) == nil)
    for change in [
      { $0.epoch = "other" }, { $0.nonce = "other" }, { $0.head += 1 }, { $0.position = $0.head + 1 },
    ] as [(inout Cursor) -> Void] {
      var forged = try #require(cursor)
      change(&forged)
      #expect(try reason(forged) == .history)
    }
    #expect(try reason(nil) == .first)
  }

  private func reason(_ cursor: Cursor?) throws -> ResetReason? {
    guard case .reset(let reset) = try world.pull(cursor, as: "ana") else { return nil }
    return reset.reason
  }
}
