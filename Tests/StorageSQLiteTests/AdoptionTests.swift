// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageContract
import SkerryStorageSQLite
import SkerryTestSupport
import SkerryTesting
import SkerryWire
import Testing

/// A database that was there before Skerry, and one that is opened again.
@Suite struct AdoptionTests {
  private static let before = """
    CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL, price REAL, title TEXT COLLATE NOCASE, n INTEGER NOT NULL DEFAULT 0,
      home TEXT, also TEXT, created TEXT DEFAULT 'then');
    CREATE TABLE unrelated(id INTEGER PRIMARY KEY, item TEXT);
    INSERT INTO item(id, title, home) VALUES ('a', 'Old', 'user:ana'), ('it''s', NULL, 'user:bob'), ('c', 'x', NULL);
    INSERT INTO unrelated VALUES (1, 'a')
    """

  private static let all: Set<RowKey> = [RowKey("item", "a"), RowKey("item", "it's"), RowKey("item", "c")]

  @Test func `rows that were there before are captured, each with a version and an incarnation of its own`() throws {
    let world = try ServerWorld(before: AdoptionTests.before)
    let found = try world.storage.read { try $0.captures() }
    #expect(Set(found.map(\.subject)) == Set(AdoptionTests.all.map { .row($0) }))
    #expect(found.count == 3)
    let rows = try AdoptionTests.all.map { key in try world.storage.read { try $0.row(key) } }
    #expect(Set(rows.map { $0?.version }).count == 3)
    #expect(rows.allSatisfy { $0 != nil && $0?.incarnation.tag == $0?.version })
    #expect(try world.row("item", "a")?.values == ["Old", "a", 0, "user:ana", .null])
  }

  @Test func `rows that were there before reach the devices of their spaces`() throws {
    let world = try ServerWorld(before: AdoptionTests.before)
    var cursor: Cursor?
    let items = try world.catchUp(&cursor, as: "ana").map(\.text).filter { $0.hasPrefix("put") }
    #expect(items == ["put item/a in user:ana"])
  }

  @Test func `a table of the app keeps its own columns, of which no change is captured`() throws {
    let world = try ServerWorld(before: AdoptionTests.before)
    try world.server.sequence()
    try world.foreign("UPDATE item SET price = 5, created = 'now'")
    #expect(try !world.storage.read { try $0.hasCaptures() })
    #expect(try world.judge([.insert("item", "new", ["home": "user:ana"])], as: "ana") == "confirmed")
    #expect(try world.judge([.set("item", "a", ["title": "New"])], as: "ana") == "confirmed")
    let kept = try world.sqlite.foreign.query("SELECT created FROM item WHERE id IN ('a', 'new') ORDER BY id") {
      $0.text(0)
    }
    #expect(kept == ["now", "then"])
  }

  @Test func `a change of case is captured even in a column that does not tell the difference`() throws {
    let world = try ServerWorld(before: AdoptionTests.before)
    try world.server.sequence()
    try world.foreign("UPDATE item SET title = 'old' WHERE title = 'OLD'")
    #expect(try world.storage.read { try $0.captures().map(\.subject) } == [.row(RowKey("item", "a"))])
  }

  @Test func `opening a file again changes nothing in it`() throws {
    let world = try ServerWorld(before: AdoptionTests.before)
    try world.foreign("INSERT INTO seat(id, owner) VALUES (1, 'ana'); DELETE FROM item WHERE id = 'c'")
    _ = try world.judge([.insert("item", "new", ["home": "user:ana"])], as: "ana")
    for isSequenced in [false, true] {
      if isSequenced { try world.server.sequence() }
      let before = try AdoptionTests.content(world.sqlite.foreign)
      let again = try world.sqlite.reopened()
      #expect(try AdoptionTests.content(world.sqlite.foreign) == before)
      let (epoch, other) = try (again.read { try $0.history() }, world.storage.read { try $0.history() })
      #expect(epoch == other)
    }
  }

  @Test func `a file that is opened twice serves both`() throws {
    let world = try ServerWorld()
    let other = try world.sqlite.reopened()
    let server = SyncServer(catalog: world.sqlite.catalog, storage: other, ambient: world.sqlite.ambient)
    try world.foreign("INSERT INTO item(id, n, home) VALUES ('a', 0, 'user:ana')")
    #expect(try server.sequence())
    #expect(try !world.server.sequence())
    var cursor: Cursor?
    #expect(try world.catchUp(&cursor, as: "ana").map(\.text).contains("put item/a in user:ana"))
  }

  @Test func `another schema under the same version, or an older one, is refused`() throws {
    let world = try ServerWorld(.model)
    var other = Schema.model
    other.spaces = []
    other.features[0].tables = [other.features[0].tables[1]]
    for version in [1, 0] {
      other.version = max(1, version)
      if version == 0 { other.name = "another" }
      #expect(throws: StorageError.self) {
        try SQLiteWorld.open(world.sqlite.folder, try Catalog(other), world.sqlite.ambient)
      }
    }
  }

  private static let rest = "title TEXT, n INTEGER, home TEXT, also TEXT"

  @Test(
    arguments: [
      ("CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL, title TEXT)", "column 'n' is missing"),
      ("CREATE TABLE item(id TEXT NOT NULL, \(rest), PRIMARY KEY(id, home))", "its primary key is"),
      ("CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL, \(rest), UNIQUE(title))", "is a second unique one"),
      ("CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, \(rest))", "column 'id' is compared by another"),
      (
        "CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER, home TEXT COLLATE RTRIM, also TEXT)",
        "column 'home' is compared by another"
      ),
      ("CREATE TABLE item(id TEXT PRIMARY KEY, \(rest))", "key column 'id' may be null; declare it NOT NULL"),
      ("CREATE TABLE seat(id INT PRIMARY KEY, owner TEXT)", "key column 'id' may be null"),
      ("CREATE TABLE item(id STRING PRIMARY KEY NOT NULL, \(rest))", "key column 'id' is STRING in the database"),
      ("CREATE TABLE seat(id TEXT PRIMARY KEY NOT NULL, owner TEXT)", "key column 'id' is TEXT in the database"),
      ("CREATE TABLE seat(id REAL PRIMARY KEY NOT NULL, owner TEXT)", "key column 'id' is REAL in the database"),
      (
        "CREATE TABLE seat(id INT PRIMARY KEY NOT NULL, owner TEXT); INSERT INTO seat VALUES (1, 'a'), (1.5, 'b'), ('c', 'c')",
        "2 rows have no integer in key column 'id'; repair or remove"
      ),
      (
        "CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL, \(rest)); INSERT INTO item(id) VALUES ('a' || char(0) || 'b'), ('c')",
        "1 rows have no text in key column 'id'"
      ),
    ])
  func `a table that cannot be captured or compared by bytes is refused, with the reason`(
    _ sql: String, _ reason: String
  ) throws {
    let error = #expect(throws: StorageError.self) { try ServerWorld(before: sql) }
    #expect(error?.description.contains("cannot be adopted") == true)
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "-")")
  }

  @Test(arguments: [
    "CREATE TABLE item(id VARCHAR(40) PRIMARY KEY NOT NULL, \(rest))",
    "CREATE TABLE item(id TEXT PRIMARY KEY, \(rest)) WITHOUT ROWID",
    "CREATE TABLE item(id TEXT PRIMARY KEY, \(rest)) STRICT",
    "CREATE TABLE seat(id INTEGER PRIMARY KEY, owner TEXT)",
    "CREATE TABLE seat(id BIGINT PRIMARY KEY NOT NULL, owner TEXT)",
    "CREATE TABLE seat(id NUMERIC PRIMARY KEY NOT NULL, owner TEXT)",
  ])
  func `a table whose keys SQLite keeps as they are written is adopted`(_ sql: String) throws {
    let world = try ServerWorld(before: sql)
    try world.foreign("INSERT INTO item(id, n, home) VALUES ('12', 0, 'user:ana'); INSERT INTO seat VALUES (7, 'ana')")
    var cursor: Cursor?
    let items = try world.catchUp(&cursor, as: "ana").map(\.text).filter { $0.hasPrefix("put") }
    #expect(items == ["put item/12 in user:ana", "put seat/7 in user:ana"])
  }

  @Test func `a row whose key no device could send is passed over, whatever becomes of it, and opening again does too`()
    throws
  {
    let world = try ServerWorld(before: "CREATE TABLE seat(id INT PRIMARY KEY NOT NULL, owner TEXT)")
    var cursor: Cursor?
    try world.foreign("INSERT INTO seat(id, owner) VALUES (1.5, 'ana'), ('one', 'ana'), (x'01', 'ana'), (3, 'ana')")
    #expect(
      try world.catchUp(&cursor, as: "ana").map(\.text).filter { $0.hasPrefix("put") } == ["put seat/3 in user:ana"])
    try world.foreign("UPDATE seat SET owner = 'ana '; UPDATE seat SET owner = 'ana'")
    #expect(try world.catchUp(&cursor, as: "ana").map(\.text) == ["put seat/3 in user:ana"])
    // A key that becomes fit is a new row, and one that becomes unfit is the end of one.
    try world.foreign("UPDATE seat SET id = 4 WHERE id = 'one'; UPDATE seat SET id = 2.5 WHERE id = 3")
    let found = try world.catchUp(&cursor, as: "ana").map(\.text)
    #expect(Set(found) == ["put seat/4 in user:ana", "deleted seat/3 in user:ana"])
    _ = try world.sqlite.reopened()
    #expect(try !world.storage.read { try $0.hasCaptures() })
    try world.foreign("DELETE FROM seat WHERE typeof(id) <> 'integer'")
    #expect(try world.catchUp(&cursor, as: "ana").isEmpty)
  }

  @Test func `a storage cannot be opened while another program holds the lock, and can later`() throws {
    let world = try SQLiteWorld(.contract)
    try world.foreign.execute("BEGIN IMMEDIATE")
    #expect(try isBusy { _ = try world.reopened() })
    try world.foreign.execute("ROLLBACK")
    #expect(try !isBusy { _ = try world.reopened() })
  }

  private func isBusy(_ body: () throws -> Void) rethrows -> Bool {
    do { try body() } catch StorageError.busy { return true }
    return false
  }

  /// Every row of every table, and every statement of the schema.
  private static func content(_ connection: SQLiteConnection) throws -> [String] {
    let tables = try connection.query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
      $0.text(0)
    }
    var out = try connection.query("SELECT type || name || coalesce(sql, '') FROM sqlite_schema ORDER BY 1") {
      $0.text(0)
    }
    for table in tables {
      out += try connection.query("SELECT * FROM \"\(table)\"") { row in
        table + (0..<row.count).map { " \(row.value($0))" }.joined()
      }.sorted()
    }
    return out
  }
}
