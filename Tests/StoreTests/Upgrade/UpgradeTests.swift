// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryMachine
import SkerryModel
import SkerryStore
import SkerryTesting
import Testing

@Suite("From one version of a schema to a later one") struct UpgradeTests {
  static let pairs: [(Int, Int)] = (1..<Versions.count).flatMap { old in
    (old + 1...Versions.count).map { (old, $0) }
  }

  private static func key(_ id: String, _ version: Int) -> RowKey { RowKey(Versions.table(version), .text(id)) }

  /// A device with synced rows and pending work of each kind.
  private func busy(_ old: Int) throws -> UpgradeDesk {
    let desk = try UpgradeDesk(Versions.schema(old))
    let store = try desk.start("a", Versions.schema(old))
    let (table, title) = (Versions.table(old), Versions.title(old))
    _ = try store.write { write in
      for id in ["edited", "counted", "deleted", "quiet"] {
        try write.insert(table, ["id": .text(id), "owner": "ana", title: .text(id)])
      }
      if old < 5 { try write.insert("drafts", ["id": "d1", "owner": "ana"]) }
      try write.insert("searches", ["id": "s"])
    }
    try desk.sync("a")
    _ = try store.write("edit") { try $0.update(Self.key("edited", old), [title: "mine"]) }
    _ = try store.write("count") { try $0.increment(Self.key("counted", old), "visits", by: 3) }
    _ = try store.write("delete") { try $0.delete(Self.key("deleted", old)) }
    _ = try store.write("insert") { try $0.insert(table, ["id": "new", "owner": "ana", title: "new"]) }
    if old < 3 { _ = try store.write("fax") { try $0.update(Self.key("quiet", old), ["fax": "1"]) } }
    if old < 5 { _ = try store.write("draft") { try $0.delete(RowKey("drafts", "d1")) } }
    return desk
  }

  @Test(arguments: pairs)
  func `B74 pending work survives from every version to every later one, and all come to the same rows`(
    old: Int, new: Int
  ) throws {
    let desk = try busy(old)
    let before = try #require(desk.stores["a"]).outbox()
    let store = try desk.start("a", Versions.schema(new))
    #expect(try store.outbox().map(\.id) == before.map(\.id))
    #expect(try store.outbox().map(\.number) == before.map(\.number))
    let list = "SELECT id, \(Versions.title(new)), visits FROM \(Versions.table(new)) ORDER BY id"
    let shown = ["counted counted 3", "edited mine 0", "new new 0", "quiet quiet 0"]
    #expect(try desk.rows(list, of: "a") == shown)
    #expect(try desk.rows("SELECT * FROM searches", of: "a") == [new >= 2 ? "s 1" : "s"])

    try desk.startServer(Versions.schema(new))
    for _ in 0..<3 { try desk.sync("a") }
    try desk.start("b", Versions.schema(new))
    try desk.sync("b")
    #expect(try desk.rows(list) == shown)
    for name in ["a", "b"] { #expect(try desk.rows(list, of: name) == shown, "\(name)") }
    #expect(desk.mismatches() == 0)
    #expect(try store.outboxCount() == 0)
    // What the new version has no place for is told, with what it was, and nothing else is.
    var given: [String?] = []
    if old < 3, new >= 3 { given.append("fax") }
    if old < 5, new >= 5 { given.append("draft") }
    #expect(try store.rejections().map(\.label) == given)
    #expect(try store.rejections().allSatisfy { $0.operations.count == 1 && $0.reason != nil })
  }

  @Test(arguments: pairs)
  func `an upgraded file is what a new one would be`(old: Int, new: Int) throws {
    let desk = try busy(old)
    try desk.start("a", Versions.schema(new))
    try desk.start("b", Versions.schema(new))
    for table in [Versions.table(new), "searches"] {
      let columns = "SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo('\(table)') ORDER BY name"
      #expect(try desk.rows(columns, of: "a") == desk.rows(columns, of: "b"))
    }
    let objects = "SELECT type, name FROM sqlite_schema WHERE substr(name, 1, 7) <> 'sqlite_' ORDER BY type, name"
    #expect(try desk.rows(objects, of: "a") == desk.rows(objects, of: "b"))
    #expect(try desk.rows("SELECT version FROM skerry_state", of: "a") == ["\(new)"])
  }

  @Test func `B73 a column that was added is fetched for rows that are here already`() throws {
    let desk = try busy(1)
    try desk.startServer(Versions.schema(2))
    try desk.execute("UPDATE notes SET starred = 1, color = 'red' WHERE id = 'quiet'")
    try desk.start("a", Versions.schema(2))
    try desk.sync("a")
    let quiet = "SELECT starred, color, calls FROM notes WHERE id = 'quiet'"
    #expect(try desk.rows(quiet, of: "a") == ["1 red 0"])
    #expect(try desk.rows("SELECT starred, title FROM notes WHERE id = 'edited'", of: "a") == ["0 mine"])
    #expect(desk.mismatches() == 0)
  }

  @Test func `B75 values that an update fills in are ordinary writes, made once for each file`() throws {
    let desk = try busy(1)
    try desk.startServer(Versions.schema(2))
    for name in ["a", "b"] {
      try desk.start(name, Versions.schema(2))
      for _ in 0..<3 { try desk.sync(name) }
    }
    func fill(_ name: String) throws -> MutationID? {
      guard let store = desk.stores[name] else { return nil }
      return try store.write("fill colors", once: "colors of version 2") { write in
        for id in ["edited", "quiet"] { try write.update(Self.key(id, 2), ["color": "grey"]) }
      }
    }
    for name in ["a", "b"] {
      #expect(try fill(name) != nil)
      #expect(try fill(name) == nil)
      try desk.start(name, Versions.schema(2))
      #expect(try fill(name) == nil)
      #expect(try #require(desk.stores[name]).outbox().map(\.label) == ["fill colors"])
    }
    for name in ["a", "b", "a"] { try desk.sync(name) }
    let colors = "SELECT id, color FROM notes WHERE color IS NOT NULL ORDER BY id"
    #expect(try desk.rows(colors) == ["edited grey", "quiet grey"])
    for name in ["a", "b"] {
      #expect(try desk.rows(colors, of: name) == ["edited grey", "quiet grey"])
      #expect(try #require(desk.stores[name]).rejections().isEmpty)
    }
    // What is on the device only is computed by each, and nothing is sent.
    let store = try #require(desk.stores["a"])
    let nothing = try store.write(once: "searches") { try $0.insert("searches", ["id": "first"]) }
    #expect(nothing == nil)
    #expect(try desk.rows("SELECT id FROM searches ORDER BY id", of: "a") == ["first", "s"])
    #expect(try store.outboxCount() == 0)
    // One that fails has not been made.
    struct Stop: Error {}
    #expect(throws: Stop.self) { try store.write(once: "later") { _ in throw Stop() } }
    let later = try store.write(once: "later") { try $0.update(Self.key("quiet", 2), ["color": "blue"]) }
    #expect(later != nil)
  }

  @Test func `an app that is newer or older than the server is told so, and keeps its work`() throws {
    let desk = try busy(1)
    let waiting = try #require(desk.stores["a"]).outboxCount()
    try desk.start("a", Versions.schema(2))
    guard case .refused = try desk.sync("a") else {
      Issue.record("a newer app was served")
      return
    }
    #expect(try #require(desk.stores["a"]).outboxCount() == waiting)
    try desk.startServer(Versions.schema(3))
    guard case .refused = try desk.sync("a") else {
      Issue.record("an older app was served")
      return
    }
    #expect(try #require(desk.stores["a"]).outboxCount() == waiting)
    try desk.start("a", Versions.schema(3))
    try desk.sync("a")
    #expect(try #require(desk.stores["a"]).outboxCount() == 0)
    #expect(desk.mismatches() == 0)
  }

  @Test func `B74 a version to which no way leads is refused, and the file stays as it is`() throws {
    let desk = try busy(1)
    let before = try desk.rows("SELECT * FROM skerry_outbox", of: "a")
    let wrong: [(String?, (inout TableDefinition) -> Void)] = [
      ("visits", { $0.columns[4].rule = .arrival }), ("title", { $0.columns[3].type = .json }),
      ("title", { $0.columns.remove(at: 3) }),
      ("title", { $0.columns[3].isOptional = false }),
      ("needed", { $0.columns.append(ColumnDefinition("needed", .text)) }),
      (nil, { $0.key = ["id", "owner"] }),
    ]
    for (column, edit) in wrong {
      var schema = Versions.schema(1)
      schema.version = 2
      edit(&schema.features[0].tables[0])
      let error = try #require(throws: SchemaError.self) { try desk.start("a", schema) }
      #expect(error.table == "notes")
      #expect(error.column == column)
      #expect(!error.remedy.isEmpty)
    }
    var schema = Versions.schema(1)
    schema.version = 2
    schema.features[0].tables.removeLast()
    #expect(throws: SchemaError.self) { try desk.start("a", schema) }
    try desk.start("a", Versions.schema(1))
    #expect(try desk.rows("SELECT * FROM skerry_outbox", of: "a") == before)
    try desk.sync("a")
    #expect(try #require(desk.stores["a"]).outboxCount() == 0)
  }

  @Test func `B74 an upgrade that fails half-way leaves the file as it was`() throws {
    let desk = try busy(1)
    // A table of the app's own in the way of a new one: it cannot be made.
    _ = try desk.rows("CREATE TABLE tags(x)", of: "a")
    let before = try desk.rows("SELECT sql FROM sqlite_schema ORDER BY name", of: "a")
    _ = try? desk.start("a", Versions.schema(4))
    try desk.start("a", Versions.schema(1))
    #expect(try desk.rows("SELECT sql FROM sqlite_schema ORDER BY name", of: "a") == before)
  }

  @Test func `a process that has the file open with an earlier version writes no more`() throws {
    let desk = try busy(1)
    let earlier = try #require(desk.stores["a"])
    try desk.start("a", Versions.schema(2))
    let error = #expect(throws: StoreError.self) {
      try earlier.write { try $0.insert("notes", ["id": "late", "owner": "ana"]) }
    }
    #expect(error?.code == .otherSchema)
    #expect(try desk.rows("SELECT id FROM notes WHERE id = 'late'", of: "a").isEmpty)
  }

  @Test func `a server refuses to start when its table wants a value that the schema has removed`() throws {
    var old = Versions.schema(2)
    old.features[0].tables[0].columns[3].isOptional = false
    let desk = try UpgradeDesk(old)
    #expect(old.features[0].tables[0].columns[3].name == "fax")
    let error = #expect(throws: (any Error).self) { try desk.startServer(Versions.schema(3)) }
    // What it says is what helps.
    let text = error.map { "\($0)" } ?? ""
    let statements = try #require(text.components(separatedBy: "while nothing else writes: ").last)
    #expect(statements.contains("DROP COLUMN \"fax\""))
    try desk.execute(statements)
    try desk.startServer(Versions.schema(3))
    try desk.execute("INSERT INTO notes(id, owner) VALUES ('n', 'ana')")
    try desk.start("a", Versions.schema(3))
    try desk.sync("a")
    #expect(try desk.rows("SELECT id FROM notes", of: "a") == ["n"])
  }
}
