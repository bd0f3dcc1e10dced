// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageContract
import SkerryStorageSQLite
import SkerryTesting
import SkerryWire
import Testing

/// A file that is opened with a later version of its schema.
@Suite struct LaterSchemaTests {
  private let world: ServerWorld

  init() throws {
    world = try ServerWorld()
    try world.foreign(
      """
      INSERT INTO team(id) VALUES ('t'); INSERT INTO member(id, team, account) VALUES ('at', 't', 'ana'), ('bt', 't', 'bob');
      INSERT INTO item(id, n, home, also) VALUES ('i', 0, 'user:ana', 'team:t'), ('gone', 0, 'user:ana', NULL);
      INSERT INTO seat(id, owner) VALUES (1, 'ana')
      """)
    try world.server.sequence()
    try world.foreign("DELETE FROM item WHERE id = 'gone'")
    try world.server.sequence()
  }

  /// Another server on the same file.
  private struct Later {
    let schema: Schema
    let storage: SQLiteStorage
    let server: SyncServer

    func pull(_ cursor: Cursor?, as user: AccountID, replica: ReplicaID? = nil) throws -> PullAnswer {
      let own = replica ?? ReplicaID("new phone of " + user.text)
      return try server.pull(
        PullRequest(schema: SchemaStamp(schema), replicas: [own], cursor: cursor, settled: 0, limit: 100), as: user)
    }

    /// All items of a first sync.
    func items(as user: AccountID, replica: ReplicaID? = nil) throws -> [String] {
      var cursor: Cursor?
      var items: [String] = []
      for _ in 0..<50 {
        switch try pull(cursor, as: user, replica: replica) {
        case .reset(let reset): cursor = reset.cursor
        case .page(let page):
          items += page.items.map(\.text)
          cursor = page.cursor
          if page.closes, page.cursor.open.isEmpty { return items.filter { !$0.hasPrefix("filled") }.sorted() }
        }
      }
      throw WorldError("a first sync does not end")
    }
  }

  private func later(_ change: (inout Schema) -> Void) throws -> Later {
    var schema = world.sqlite.catalog.schema
    schema.version += 1
    change(&schema)
    let catalog = try Catalog(schema)
    let storage = try SQLiteWorld.open(world.sqlite.folder, catalog, world.sqlite.ambient)
    return Later(
      schema: schema, storage: storage,
      server: SyncServer(catalog: catalog, storage: storage, ambient: world.sqlite.ambient))
  }

  private static func change(_ name: String, in schema: inout Schema, _ body: (inout TableDefinition) -> Void) {
    for feature in schema.features.indices {
      for table in schema.features[feature].tables.indices where schema.features[feature].tables[table].name == name {
        body(&schema.features[feature].tables[table])
      }
    }
  }

  private static func drop(_ names: Set<String>, from schema: inout Schema) {
    for feature in schema.features.indices { schema.features[feature].tables.removeAll { names.contains($0.name) } }
  }

  private let shared = ["put member/at in team:t", "put member/bt in team:t", "put team/t in team:t"]

  @Test func `a schema without a table serves those that are left, and leaves nothing of it behind`() throws {
    try world.foreign("UPDATE seat SET owner = 'bob'; DELETE FROM item WHERE id = 'none'")
    let later = try later { LaterSchemaTests.drop(["seat", "ticket"], from: &$0) }
    #expect(try later.items(as: "ana") == ["put item/i in team:t", "put item/i in user:ana"] + shared)
    let left = try world.sqlite.foreign.query(
      """
      SELECT 'trigger' FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('seat', 'ticket') UNION ALL
      SELECT 'capture' FROM skerry_captures UNION ALL SELECT 'header' FROM skerry_rows WHERE tbl = 'seat' UNION ALL
      SELECT 'log' FROM skerry_log WHERE tbl = 'seat'
      """
    ) { $0.text(0) }
    #expect(left == [])
    try world.foreign("UPDATE seat SET owner = 'ana'")
    #expect(try !later.storage.read { try $0.hasCaptures() })
  }

  @Test func `a table that is declared again after a time has the rows that it has then`() throws {
    _ = try later { LaterSchemaTests.drop(["seat", "ticket"], from: &$0) }
    try world.foreign("DELETE FROM seat; INSERT INTO seat VALUES (2, 'ana')")
    let again = try later { $0.version += 1 }
    #expect(try again.items(as: "ana").contains("put seat/2 in user:ana"))
    #expect(try !again.items(as: "ana").contains("put seat/1 in user:ana"))
  }

  @Test func `a table that a later schema adds is made and its rows are adopted`() throws {
    try world.foreign(
      "CREATE TABLE hall(id INTEGER PRIMARY KEY, owner TEXT); INSERT INTO hall VALUES (1, 'ana'), (2, 'bob')")
    let hall = TableDefinition(
      "hall", columns: [ColumnDefinition("id", .integer), ColumnDefinition("owner", .text, optional: true)],
      spaces: [.owner(column: "owner", kind: "user")])
    let later = try later { $0.features.append(FeatureDefinition("more", .replica, tables: [hall])) }
    #expect(try later.items(as: "ana").filter { $0.contains("hall") } == ["put hall/1 in user:ana"])
    #expect(try later.items(as: "bob").filter { $0.contains("hall") } == ["put hall/2 in user:bob"])
  }

  @Test func `other rules for spaces take rows away from those who may not see them any more`() throws {
    #expect(try world.storage.read { try $0.head(of: "team:t").digest.rows } == 4)
    let later = try later { LaterSchemaTests.change("item", in: &$0) { $0.spaces = [.named(column: "home")] } }
    #expect(try later.items(as: "bob") == shared)
    #expect(
      try later.items(as: "ana") == (shared + ["put item/i in user:ana", "put seat/1 in user:ana"]).sorted())
    #expect(try later.server.digest(of: "team:t").rows == 3)
    #expect(try later.server.digest(of: "user:ana").rows == 2)
  }

  @Test func `other memberships let in and keep out by the declaration that holds now`() throws {
    let later = try later { schema in
      schema.spaces[0].members = .table("deputy", space: "team", user: "account")
      schema.features[0].tables.append(
        TableDefinition(
          "deputy",
          columns: [
            ColumnDefinition("id", .text), ColumnDefinition("team", .text), ColumnDefinition("account", .text),
          ],
          spaces: [.owner(column: "team", kind: "team")]))
    }
    #expect(try later.items(as: "ana") == ["put item/i in user:ana", "put seat/1 in user:ana"])
    #expect(try later.items(as: "bob") == [])
    try world.foreign("INSERT INTO deputy VALUES ('d', 't', 'cat')")
    #expect(try later.items(as: "cat").contains("put item/i in team:t"))
  }

  @Test func `devices of before refill in a new epoch, and rows keep versions and incarnations`() throws {
    #expect(try world.judge([.set("item", "i", ["title": "x"])], as: "ana") == "confirmed")
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    let before = try world.storage.read { try ($0.history(), $0.row(RowKey("item", "i"))) }
    let later = try later { LaterSchemaTests.change("item", in: &$0) { $0.spaces = [.named(column: "home")] } }
    let after = try later.storage.read { try ($0.history(), $0.row(RowKey("item", "i"))) }
    #expect(after.0.epoch != before.0.epoch)
    #expect(after.0.head > before.0.head)
    #expect(after.1 == before.1)
    guard case .reset(let reset) = try later.pull(cursor, as: "ana", replica: "phone of ana") else {
      Issue.record("a reset was expected")
      return
    }
    #expect(reset.reason == .history)
    #expect(reset.spaces.contains("team:t"), "no space is lost on the way")
  }

  @Test func `receipts stay, those that wait for a position too, and what comes again has no second effect`() throws {
    let first = try world.mutation([.add("item", "i", 1)], replica: "r")
    let second = try world.mutation([.add("item", "i", 10)], replica: "r")
    _ = try world.push([first], as: "ana", replica: "r")
    try world.server.sequence()
    try world.server.markSafe(upTo: world.server.history().head)
    let safe = try world.server.history().safe
    _ = try world.push([second], as: "ana", replica: "r")
    let later = try later { _ in }
    #expect(try later.items(as: "ana", replica: "r").count { $0 == "receipt confirmed" } == 2)
    let request = PushRequest(
      schema: SchemaStamp(later.schema), replica: "r", cursor: nil, settled: 0, mutations: [first, second])
    #expect(
      try later.server.push(request, as: "ana").verdicts
        == [.settled(first.id, .confirmed), .settled(second.id, .confirmed)])
    #expect(try later.storage.read { try $0.row(RowKey("item", "i"))?.values[2] } == 11)
    #expect(try later.server.history().safe == safe)
  }

  @Test func `a server that still has the schema of before judges and tells nothing any more`() throws {
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "bob")
    let later = try later { LaterSchemaTests.change("item", in: &$0) { $0.spaces = [.named(column: "home")] } }
    try world.foreign("UPDATE item SET title = 'x'")
    #expect(throws: StorageError.self) { try world.pull(cursor, as: "bob") }
    #expect(throws: StorageError.self) { try world.server.sequence() }
    #expect(throws: StorageError.self) { try world.judge([.add("item", "i", 1)], as: "bob") }
    #expect(try later.items(as: "bob") == shared)
  }
}
