// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

@Suite("One server, devices of several versions") struct ServedVersionsTests {
  private static func list(_ version: Int) -> String {
    "SELECT id, \(Versions.title(version)), visits FROM \(Versions.table(version)) ORDER BY id"
  }

  private static func key(_ id: String, _ version: Int) -> RowKey { RowKey(Versions.table(version), .text(id)) }

  private func note(_ id: String, _ version: Int, by name: String, on desk: UpgradeDesk) throws {
    let store = try #require(desk.stores[name])
    _ = try store.write { write in
      try write.insert(
        Versions.table(version), ["id": .text(id), "owner": "ana", Versions.title(version): .text(id)])
    }
  }

  @Test(arguments: UpgradeTests.pairs)
  func `a device of an earlier version goes on, is updated later, and all come to the same rows`(
    old: Int, new: Int
  ) throws {
    let desk = try UpgradeDesk(Versions.schema(old))
    try desk.start("a", Versions.schema(old))
    for id in ["one", "two", "three", "four", "five", "six"] { try note(id, old, by: "a", on: desk) }
    for _ in 0..<3 { try desk.sync("a") }
    try note("waiting", old, by: "a", on: desk)

    try desk.startServer(Versions.schema(new))
    try desk.start("b", Versions.schema(new))
    for name in ["a", "a", "b", "a"] { #expect(try desk.sync(name) == .idle) }
    #expect(try desk.rows(Self.list(old), of: "a") == desk.rows(Self.list(new), of: "b"))
    #expect(try desk.rows(Self.list(new)) == desk.rows(Self.list(new), of: "b"))

    // Both write what both know, and the newer one what the older does not.
    let (a, b) = (try #require(desk.stores["a"]), try #require(desk.stores["b"]))
    _ = try a.write { try $0.update(Self.key("one", old), [Versions.title(old): "by a"]) }
    _ = try a.write { try $0.increment(Self.key("two", old), "visits", by: 2) }
    _ = try b.write { try $0.update(Self.key("one", new), ["color": "red", "starred": 1]) }
    _ = try b.write { try $0.increment(Self.key("two", new), "visits", by: 3) }
    _ = try b.write { try $0.delete(Self.key("three", new)) }
    try note("last", new, by: "b", on: desk)
    for name in ["b", "a", "b", "a"] { try desk.sync(name) }
    let shown = [
      "five five 0", "four four 0", "last last 0", "one by a 0", "six six 0", "two two 5", "waiting waiting 0",
    ]
    #expect(try desk.rows(Self.list(old), of: "a") == shown)
    #expect(try desk.rows(Self.list(new), of: "b") == shown)
    #expect(try desk.rows("SELECT color, starred FROM \(Versions.table(new)) WHERE id = 'one'") == ["red 1"])

    // The update of the app brings what its version adds, for rows that are here already.
    let resets = desk.resets
    _ = try a.write { try $0.increment(Self.key("four", old), "visits", by: 1) }
    try desk.start("a", Versions.schema(new))
    for name in ["a", "b"] { try desk.sync(name) }
    for table in [Versions.table(new)] {
      let all = "SELECT * FROM \"\(table)\" ORDER BY id"
      let (ours, theirs) = (try rows(desk, "a", table), try rows(desk, "b", table))
      #expect(ours == theirs)
      #expect(try desk.rows(all).count == ours.count)
    }
    #expect(try desk.rows("SELECT color, starred FROM \(Versions.table(new)) WHERE id = 'one'", of: "a") == ["red 1"])
    #expect(desk.mismatches() == 0)
    #expect(desk.resets == resets, "an update of the app is no reason to begin anew")
    for store in desk.stores.values {
      #expect(try store.outboxCount() == 0)
      #expect(try store.rejections().isEmpty)
    }
  }

  /// What a device shows of a table, by the app's columns.
  private func rows(_ desk: UpgradeDesk, _ name: String, _ table: String) throws -> [String] {
    let columns = try #require(desk.stores[name]).catalog.table(table)?.columns.map(\.name) ?? []
    return try desk.rows("SELECT \(columns.joined(separator: ", ")) FROM \"\(table)\" ORDER BY id", of: name)
  }

  @Test func `B73 an added column costs neither a new epoch nor a refill`() throws {
    let desk = try UpgradeDesk(Versions.schema(1))
    try desk.start("a", Versions.schema(1))
    for index in 0..<30 { try note("n\(index)", 1, by: "a", on: desk) }
    for _ in 0..<12 { try desk.sync("a") }
    let epoch = try desk.server.history().epoch
    try desk.startServer(Versions.schema(2))
    #expect(try desk.server.history().epoch == epoch)
    try desk.execute("UPDATE notes SET color = 'red' WHERE id IN ('n3', 'n4')")
    let (resets, puts) = (desk.resets, desk.puts)
    try desk.sync("a")
    try desk.start("a", Versions.schema(2))
    try desk.sync("a")
    #expect(try desk.rows("SELECT id FROM notes WHERE color = 'red' ORDER BY id", of: "a") == ["n3", "n4"])
    #expect(desk.resets == resets)
    #expect(desk.puts - puts == 4, "two rows as the earlier version sees them, and once more with what it could not")
    #expect(desk.mismatches() == 0)
  }

  @Test func `B73 values that were there before the column was declared are fetched too`() throws {
    let desk = try UpgradeDesk(Versions.schema(1))
    try desk.start("a", Versions.schema(1))
    try note("n", 1, by: "a", on: desk)
    try note("m", 1, by: "a", on: desk)
    for _ in 0..<3 { try desk.sync("a") }
    // An operator's own migration, before the server of the new version starts.
    try desk.execute("ALTER TABLE notes ADD COLUMN color TEXT; UPDATE notes SET color = 'old' WHERE id = 'n'")
    try desk.startServer(Versions.schema(2))
    try desk.start("a", Versions.schema(2))
    try desk.sync("a")
    #expect(try desk.rows("SELECT id, color FROM notes ORDER BY id", of: "a") == ["m -", "n old"])
    #expect(desk.mismatches() == 0)
  }

  @Test func `B76 B77 what an earlier version sends leaves alone what it does not know`() throws {
    let desk = try UpgradeDesk(Versions.schema(1))
    try desk.start("a", Versions.schema(1))
    try note("n", 1, by: "a", on: desk)
    try desk.sync("a")
    try desk.startServer(Versions.schema(2))
    try desk.start("b", Versions.schema(2))
    try desk.sync("b")
    let b = try #require(desk.stores["b"])
    _ = try b.write { try $0.update(Self.key("n", 2), ["color": "red", "starred": 1]) }
    try desk.sync("b")
    for edit in ["first", "second"] {
      try desk.sync("a")
      let a = try #require(desk.stores["a"])
      _ = try a.write { try $0.update(Self.key("n", 1), ["title": .text(edit)]) }
      try desk.sync("a")
    }
    try desk.sync("b")
    let row = "SELECT title, color, starred FROM notes"
    #expect(try desk.rows(row) == ["second red 1"])
    #expect(try desk.rows(row, of: "b") == ["second red 1"])
    #expect(try desk.rows("SELECT title FROM notes", of: "a") == ["second"])
  }

  @Test func `what the server's version has no place for is refused, and shown with its values`() throws {
    let desk = try UpgradeDesk(Versions.schema(2))
    let store = try desk.start("a", Versions.schema(2))
    try note("n", 2, by: "a", on: desk)
    try desk.sync("a")
    try desk.startServer(Versions.schema(3))
    _ = try store.write("fax") { try $0.update(Self.key("n", 2), ["fax": "1"]) }
    _ = try store.write("both") { try $0.update(Self.key("n", 2), ["fax": "2", "title": "new"]) }
    for _ in 0..<2 { try desk.sync("a") }
    #expect(try store.rejections().map(\.label) == ["fax"])
    #expect(try store.rejections().first?.operations.first?.fields == [Field("fax", "1")])
    #expect(try desk.rows("SELECT heading FROM notes") == ["new"])
    #expect(try desk.rows("SELECT title, fax FROM notes", of: "a") == ["new -"])
  }

  @Test(arguments: [true, false])
  func `rows made by a mutation of which a part is gone are the same rows to all who name them`(
    isUpdated: Bool
  ) throws {
    let desk = try UpgradeDesk(Versions.schema(4))
    let store = try desk.start("a", Versions.schema(4))
    _ = try store.write("two") { write in
      try write.insert("drafts", ["id": "d", "owner": "ana"])
      try write.insert("memos", ["id": "m", "owner": "ana", "heading": "first"])
    }
    _ = try store.write("then") { try $0.update(RowKey("memos", "m"), ["heading": "second"]) }
    try desk.startServer(Versions.schema(5))
    if isUpdated { try desk.start("a", Versions.schema(5)) }
    for _ in 0..<3 { try desk.sync("a") }
    let last = try #require(desk.stores["a"])
    _ = try last.write("last") { try $0.increment(RowKey("memos", "m"), "visits", by: 1) }
    for _ in 0..<2 { try desk.sync("a") }
    #expect(try last.rejections().map(\.reason) == [])
    #expect(try desk.rows("SELECT heading, visits FROM memos") == ["second 1"])
    #expect(try desk.rows("SELECT heading, visits FROM memos", of: "a") == ["second 1"])
    #expect(try last.outboxCount() == 0)
  }

  @Test func `an update in the middle of a first sync misses nothing`() throws {
    for stop in 1..<8 {
      let desk = try UpgradeDesk(Versions.schema(1))
      try desk.execute(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
        INSERT INTO notes(id, owner, title, visits) SELECT 'n' || i, 'ana', 'n' || i, i FROM n
        """)
      try desk.start("a", Versions.schema(1))
      try desk.sync("a", exchanges: stop)
      try desk.startServer(Versions.schema(2))
      try desk.execute("UPDATE notes SET color = id WHERE visits % 3 = 0")
      try desk.sync("a", exchanges: 1)
      try desk.start("a", Versions.schema(2))
      try desk.sync("a")
      let all = "SELECT id, title, color, visits, calls, starred FROM notes ORDER BY id"
      #expect(try desk.rows(all, of: "a") == desk.rows(all), "stopped after \(stop)")
      #expect(desk.mismatches() == 0)
    }
  }

  @Test func `a version that the database was never served by is known if it is announced`() throws {
    let desk = try UpgradeDesk(Versions.schema(1))
    try desk.start("a", Versions.schema(1))
    try note("n", 1, by: "a", on: desk)
    try desk.sync("a")
    try desk.start("a", Versions.schema(2))
    try desk.startServer(Versions.schema(3))
    guard case .refused = try desk.sync("a") else {
      Issue.record("an unknown version was served")
      return
    }
    #expect(desk.problem.contains("schema notes 2 found, notes 3 expected; the app is to be updated"))
    try desk.startServer(Versions.schema(3), earlier: [Versions.schema(2)])
    try desk.execute("UPDATE notes SET color = 'red'")
    #expect(try desk.sync("a") == .idle)
    #expect(try desk.rows("SELECT title, color FROM notes", of: "a") == ["n red"])
    try desk.start("a", Versions.schema(3))
    #expect(try desk.sync("a") == .idle)
    #expect(desk.mismatches() == 0)

    var other = Versions.schema(2)
    other.features[0].tables[0].columns.append(ColumnDefinition("other", .text, optional: true))
    other.features[0].tables[0].removed = []
    var last = Versions.schema(3)
    last.features[0].tables[0].removed.append("other")
    #expect(throws: (any Error).self) { try desk.startServer(last, earlier: [other]) }
    #expect(throws: SchemaError.self) { try desk.startServer(Versions.schema(3), earlier: [Versions.schema(4)]) }
  }

  @Test func `a version that has no rows without a removed column is told to be updated`() throws {
    var old = Versions.schema(2)
    old.features[0].tables[0].columns[3].isOptional = false
    let desk = try UpgradeDesk(old)
    let store = try desk.start("a", old)
    _ = try store.write { try $0.insert("notes", ["id": "n", "owner": "ana", "fax": "1"]) }
    try desk.sync("a")
    _ = try store.write { try $0.update(RowKey("notes", "n"), ["title": "kept"]) }
    var new = Versions.schema(3)
    new.features[0].tables[0].removed = ["fax"]
    for verb in ["insert", "update", "rekey_old", "rekey_new", "delete"] {
      try desk.execute("DROP TRIGGER skerry_\(verb)_notes")
    }
    try desk.execute("ALTER TABLE notes DROP COLUMN fax")
    try desk.startServer(new)
    guard case .refused = try desk.sync("a") else {
      Issue.record("it was served")
      return
    }
    #expect(desk.problem.contains("notes.fax: version 3 has removed it"))
    #expect(try store.outboxCount() == 1)
    try desk.start("a", new)
    #expect(try desk.sync("a") == .idle)
    #expect(try desk.rows("SELECT heading FROM notes") == ["kept"])
  }
}

extension ServedVersionsTests {
  private static func schema(_ version: Int, _ columns: [ColumnDefinition]) -> Schema {
    let id = [ColumnDefinition("id", .text), ColumnDefinition("owner", .text)]
    let table = TableDefinition("t", columns: id + columns, spaces: [.owner(column: "owner", kind: "user")])
    return Schema("notes", version: version, features: [FeatureDefinition("all", .replica, tables: [table])])
  }

  @Test func `a name that another column takes anew is on the server what it is on devices`() throws {
    func text(_ name: String, _ before: String...) -> ColumnDefinition {
      ColumnDefinition(name, .text, optional: true, was: before)
    }
    let old = Self.schema(1, [text("a"), text("x")])
    let new = Self.schema(2, [text("x"), text("b", "a"), text("y", "x")])
    let desk = try UpgradeDesk(old)
    let store = try desk.start("a", old)
    _ = try store.write { try $0.insert("t", ["id": "1", "owner": "ana", "a": "A", "x": "X"]) }
    try desk.sync("a")
    try desk.startServer(new)
    #expect(try desk.rows("SELECT b, x, y FROM t") == ["A - X"])
    _ = try store.write { try $0.update(RowKey("t", "1"), ["x": "X2"]) }
    try desk.sync("a")
    #expect(try desk.rows("SELECT b, x, y FROM t") == ["A - X2"])
    #expect(try desk.rows("SELECT a, x FROM t", of: "a") == ["A X2"])
    try desk.start("a", new)
    try desk.sync("a")
    #expect(try desk.rows("SELECT b, x, y FROM t", of: "a") == ["A - X2"])
    #expect(desk.mismatches() == 0)
  }

  @Test func `a null that an earlier version wrote is not the default that a later one gives`() throws {
    let old = Self.schema(1, [ColumnDefinition("c", .text, optional: true)])
    let new = Self.schema(2, [ColumnDefinition("c", .text, optional: true, default: "d")])
    for isUpdated in [false, true] {
      let desk = try UpgradeDesk(old)
      let store = try desk.start("a", old)
      _ = try store.write { try $0.insert("t", ["id": "1", "owner": "ana"]) }
      try desk.startServer(new)
      if isUpdated { try desk.start("a", new) }
      for _ in 0..<2 { try desk.sync("a") }
      #expect(try desk.rows("SELECT c FROM t") == ["-"])
      #expect(try desk.rows("SELECT c FROM t", of: "a") == ["-"])
    }
  }

  @Test func `what an earlier version has no table for does not hold up what it has`() throws {
    let desk = try UpgradeDesk(Versions.schema(2))
    try desk.startServer(Versions.schema(3))
    try desk.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      INSERT INTO tags(id, owner) SELECT 'n' || i, 'ana' FROM n
      """)
    try desk.execute("INSERT INTO notes(id, owner, heading) VALUES ('n', 'ana', 'here')")
    try desk.start("a", Versions.schema(2))
    #expect(try desk.sync("a") == .idle)
    #expect(try desk.rows("SELECT title FROM notes", of: "a") == ["here"])
    try desk.start("a", Versions.schema(3))
    try desk.sync("a")
    #expect(try desk.rows("SELECT count(*) FROM tags", of: "a") == ["40"])
    #expect(desk.mismatches() == 0)
  }
}
