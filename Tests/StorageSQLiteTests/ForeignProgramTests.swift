// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageContract
import SkerryStorageSQLite
import SkerryTestSupport
import SkerryTesting
import Testing

/// What other programs do to a SQLite file beyond the conformance suite: every way that SQLite has to change a row.
@Suite struct ForeignProgramTests {
  private let world: SQLiteWorld

  init() throws { world = try SQLiteWorld(.contract) }

  private func foreign(_ sql: String) throws { try world.foreign.execute(sql) }

  private func seat(_ id: Int64) -> RowKey { RowKey("seat", .integer(id)) }

  private func row(_ key: RowKey) throws -> RowState? { try world.storage.read { try $0.row(key) } }

  /// What has been captured since the last call.
  private func captured() throws -> Set<RowKey> {
    try world.storage.write { transaction in
      let captures = try transaction.captures()
      try transaction.removeCaptures(captures.map(\.number))
      return Set(
        captures.compactMap { capture in
          if case .row(let key) = capture.subject { key } else { nil }
        })
    }
  }

  @Test(
    arguments: [
      ("INSERT INTO seat(id, owner) VALUES (3, 'x') RETURNING id", [3]),
      ("INSERT OR IGNORE INTO seat(id, owner) VALUES (1, 'x'), (3, 'x')", [3]),
      ("INSERT INTO seat(id, owner) VALUES (1, 'x') ON CONFLICT DO NOTHING", []),
      ("INSERT INTO seat(id, owner) VALUES (1, 'x') ON CONFLICT(id) DO UPDATE SET owner = owner", []),
      ("INSERT INTO seat(id, owner) VALUES (1, 'x') ON CONFLICT(id) DO UPDATE SET owner = 'bob' WHERE id = 2", []),
      ("UPDATE seat SET owner = 'x' WHERE id = 1 RETURNING owner", [1]),
      ("UPDATE seat SET owner = t.who FROM (SELECT 2 AS at, 'x' AS who) AS t WHERE seat.id = t.at", [2]),
      ("WITH all_of(at) AS (VALUES (1), (2)) DELETE FROM seat WHERE id IN all_of", [1, 2]),
      ("UPDATE OR IGNORE seat SET id = 2 WHERE id = 1", []),
      ("UPDATE OR IGNORE seat SET id = id + 1", [2, 3]),
      ("UPDATE OR REPLACE seat SET id = 2 WHERE id = 1", [1, 2]),
      ("UPDATE seat SET id = -id", [1, 2, -1, -2]),
      ("DELETE FROM seat", [1, 2]),
      ("DELETE FROM seat WHERE id = 1 RETURNING id", [1]),
      ("REPLACE INTO seat(id, owner) SELECT id + 1, owner FROM seat", [2, 3]),
    ] as [(String, [Int64])])
  func `every kind of statement is captured row by row`(_ sql: String, _ rows: [Int64]) throws {
    try foreign("INSERT INTO seat(id, owner) VALUES (1, 'ana'), (2, 'bob')")
    _ = try captured()
    try foreign(sql)
    #expect(try captured() == Set(rows.map(seat)))
    let ids = try world.foreign.query("SELECT id FROM seat") { $0.integer(0) }
    for id in ids { #expect(try row(seat(id)) != nil, "seat \(id) has no header") }
    for id in [1, 2, 3, -1, -2] as [Int64] where !ids.contains(id) { #expect(try row(seat(id)) == nil) }
  }

  @Test func `a program that has the file attached under another name is captured`() throws {
    let other = try SQLiteConnection(path: ":memory:", mode: .writer)
    try other.execute(
      "CREATE TABLE skerry_captures(n INTEGER PRIMARY KEY, tbl, key, op, tag); CREATE TABLE skerry_writer(tag)")
    try other.execute("ATTACH '\(world.folder.path("server.db"))' AS shop")
    try other.execute("INSERT INTO shop.seat(id, owner) VALUES (1, 'ana'); UPDATE shop.seat SET owner = 'bob'")
    #expect(try captured() == [seat(1)])
    #expect(try other.first("SELECT count(*) FROM main.skerry_captures") { $0.integer(0) } == 0)
  }

  @Test func `a program's own counters are not disturbed`() throws {
    try foreign("INSERT INTO seat(id, owner) VALUES (77, 'ana')")
    #expect(world.foreign.lastInsertedRow == 77)
    #expect(try world.foreign.run("UPDATE seat SET owner = 'bob'") == 1)
    #expect(try world.foreign.first("SELECT changes()") { $0.integer(0) } == 1)
    #expect(world.foreign.lastInsertedRow == 77)
  }

  @Test func `a trigger of the app that changes its own row again is captured, and the row is told as it ends up`()
    throws
  {
    try foreign("CREATE TRIGGER app_stamp AFTER UPDATE ON item BEGIN UPDATE item SET n = n + 1 WHERE id = NEW.id; END")
    try foreign("INSERT INTO item(id, n) VALUES ('a', 0)")
    let first = try row(RowKey("item", "a"))
    _ = try captured()
    try foreign("UPDATE item SET title = 'x'")
    #expect(try captured() == [RowKey("item", "a")])
    let second = try row(RowKey("item", "a"))
    #expect(second?.values == ["x", "a", 1, .null, .null])
    #expect(second?.incarnation == first?.incarnation)
    #expect(second?.version != first?.version)
  }

  @Test func `a change that a trigger of the app suppresses is not captured`() throws {
    try foreign("CREATE TRIGGER app_no BEFORE DELETE ON item WHEN OLD.n > 0 BEGIN SELECT RAISE(IGNORE); END")
    try foreign("INSERT INTO item(id, n) VALUES ('a', 0), ('b', 1)")
    _ = try captured()
    try foreign("DELETE FROM item")
    #expect(try captured() == [RowKey("item", "a")])
    #expect(try row(RowKey("item", "b")) != nil)
  }

  @Test func `foreign keys that cascade are captured`() throws {
    let world = try SQLiteWorld(
      .contract,
      before: """
        CREATE TABLE seat(id INTEGER PRIMARY KEY, owner TEXT);
        CREATE TABLE ticket(id BLOB PRIMARY KEY NOT NULL, seat INTEGER REFERENCES seat(id) ON DELETE CASCADE ON UPDATE CASCADE)
        """)
    try world.foreign.execute("PRAGMA foreign_keys = ON")
    try world.foreign.execute(
      "INSERT INTO seat VALUES (1, 'ana'), (2, 'bob'); INSERT INTO ticket VALUES (x'01', 1), (x'02', 2)")
    func captured() throws -> Set<Capture.Subject> {
      try world.storage.write { transaction in
        let captures = try transaction.captures()
        try transaction.removeCaptures(captures.map(\.number))
        return Set(captures.map(\.subject))
      }
    }
    _ = try captured()
    try world.foreign.execute("DELETE FROM seat WHERE id = 1")
    #expect(try captured() == [.row(seat(1)), .row(RowKey("ticket", .blob([1])))])
    try world.foreign.execute("UPDATE seat SET id = 9 WHERE id = 2")
    #expect(try captured() == [.row(seat(2)), .row(seat(9)), .row(RowKey("ticket", .blob([2])))])
  }

  @Test func `a program with recursive triggers is captured; its REPLACE is a deletion and an insert`() throws {
    try foreign("PRAGMA recursive_triggers = ON")
    try foreign("INSERT INTO seat(id, owner) VALUES (1, 'ana')")
    let before = try row(seat(1))
    _ = try captured()
    try foreign("REPLACE INTO seat(id, owner) VALUES (1, 'bob')")
    #expect(try captured() == [seat(1)])
    let after = try row(seat(1))
    #expect(after?.values == [1, "bob"])
    #expect(after != nil && after?.version != before?.version && after?.incarnation != before?.incarnation)
  }

  @Test func `a transaction of many statements and savepoints is captured as far as it is kept`() throws {
    try foreign("INSERT INTO seat(id, owner) VALUES (1, 'ana'), (2, 'bob')")
    _ = try captured()
    try foreign(
      "BEGIN; UPDATE seat SET owner = 'x' WHERE id = 1; SAVEPOINT a; UPDATE seat SET owner = 'y' WHERE id = 2")
    try foreign("INSERT INTO seat(id) VALUES (3); ROLLBACK TO a; INSERT INTO seat(id) VALUES (4); RELEASE a; COMMIT")
    #expect(try captured() == [seat(1), seat(4)])
    #expect(try row(seat(2))?.values == [2, "bob"])
    #expect(try row(seat(3)) == nil)
  }

  @Test(arguments: [
    "INSERT INTO item(id, n) VALUES ('a' || char(0) || 'b', 0)", "UPDATE item SET title = char(0)",
    "UPDATE item SET home = 'user:ana' || char(0)", "UPDATE measure SET detail = '{}' || char(0)",
    "UPDATE measure SET price = 9e999", "UPDATE measure SET price = -9e999", "UPDATE measure SET done = 2",
    "UPDATE measure SET size = 'many'", "UPDATE measure SET size = 1.5", "UPDATE measure SET words = x'00'",
    "UPDATE measure SET moment = 'noon'", "UPDATE measure SET owner = NULL", "UPDATE item SET n = NULL",
    "UPDATE seat SET id = NULL", "INSERT INTO item(id, n) VALUES (NULL, 0)",
    "INSERT INTO place(town, street) VALUES ('a', 'b')",
  ])
  func `what no device could send is refused by other programs too, and leaves no capture`(_ sql: String) throws {
    try foreign("INSERT INTO item(id, n) VALUES ('i', 0); INSERT INTO seat(id) VALUES (1)")
    try foreign("INSERT INTO measure(id, owner) VALUES ('m', 'ana')")
    _ = try captured()
    let error = #expect(throws: SQLiteError.self) { try foreign(sql) }
    #expect(error?.isConstraint == true || error?.code == 20)
    #expect(try captured().isEmpty)
  }

  @Test func `text that is not UTF-8 holds nobody up`() throws {
    try foreign("INSERT INTO item(id, n, title, home) VALUES ('a', 0, CAST(x'61FF' AS TEXT), 'user:ana')")
    try foreign("INSERT INTO item(id, n, home) VALUES (CAST(x'62FF' AS TEXT), 0, 'user:ana'), ('c', 0, 'user:ana')")
    let server = SyncServer(catalog: world.catalog, storage: world.storage, ambient: world.ambient)
    #expect(try server.sequence())
    #expect(try row(RowKey("item", "a"))?.values[0] == "a\u{FFFD}")
    #expect(try row(RowKey("item", "c")) != nil)
    try foreign("UPDATE item SET n = n + 1")
    #expect(try server.sequence())
    #expect(try !world.storage.read { try $0.hasCaptures() })
  }
}
