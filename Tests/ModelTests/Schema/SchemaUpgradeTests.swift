// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import Testing

@Suite("The difference of two versions of a schema") struct SchemaUpgradeTests {
  private static func schema(_ version: Int, _ table: TableDefinition, removed: [String] = []) -> Schema {
    Schema("app", version: version, features: [FeatureDefinition("all", .replica, tables: [table])], removed: removed)
  }

  private static func table(_ columns: ColumnDefinition..., removed: [String] = []) -> TableDefinition {
    TableDefinition(
      "t", columns: [ColumnDefinition("id", .text), ColumnDefinition("owner", .text)] + columns,
      spaces: [.owner(column: "owner", kind: "user")], removed: removed)
  }

  private static func upgrade(_ old: TableDefinition, _ new: TableDefinition) throws -> SchemaUpgrade.Table {
    try SchemaUpgrade(from: schema(1, old), to: schema(2, new)).tables[0]
  }

  @Test func `columns are found by their names, wherever they are declared`() throws {
    let change = try Self.upgrade(
      Self.table(ColumnDefinition("a", .text, optional: true), ColumnDefinition("b", .text, optional: true)),
      Self.table(
        ColumnDefinition("b", .text, optional: true), ColumnDefinition("c", .integer, default: 7),
        ColumnDefinition("a", .text, optional: true), ColumnDefinition("n", .integer, rule: .counter)))
    #expect(change.sources == [0, 1, 3, nil, 2, nil])
    #expect(change.values(["i", "o", "A", "B"]) == ["i", "o", "B", 7, "A", 0])
    #expect(change.changesHashes)
  }

  @Test func `two columns that change places by their names are told apart`() throws {
    let old = Self.table(ColumnDefinition("a", .text, optional: true), ColumnDefinition("b", .text, optional: true))
    let change = try Self.upgrade(
      old,
      Self.table(
        ColumnDefinition("x", .text, optional: true, was: ["a"]),
        ColumnDefinition("a", .text, optional: true, was: ["b"])))
    #expect(change.name(of: "a") == "x")
    #expect(change.name(of: "b") == "a")
    #expect(change.sources == [0, 1, 2, 3])
  }

  @Test func `a name that was free is taken by a new column, from each version of before`() throws {
    let last = Self.table(
      ColumnDefinition("heading", .text, optional: true, was: ["title"]),
      ColumnDefinition("title", .text, optional: true))
    let first = try Self.upgrade(Self.table(ColumnDefinition("title", .text, optional: true)), last)
    #expect(first.sources == [0, 1, 2, nil])
    let second = try Self.upgrade(Self.table(ColumnDefinition("heading", .text, optional: true)), last)
    #expect(second.sources == [0, 1, 2, nil])
    let same = try Self.upgrade(last, last)
    #expect(same.sources == [0, 1, 2, 3])
    #expect(!same.changesHashes)
  }

  @Test func `a column that is added without a value changes no hash`() throws {
    let change = try Self.upgrade(Self.table(), Self.table(ColumnDefinition("a", .text, optional: true)))
    #expect(!change.changesHashes)
  }

  @Test func `operations are said as the later version says them`() throws {
    let old = Self.table(
      ColumnDefinition("title", .text, optional: true), ColumnDefinition("fax", .text, optional: true),
      ColumnDefinition("n", .integer, rule: .counter))
    let new = Self.table(
      ColumnDefinition("heading", .text, optional: true, was: ["title"]),
      ColumnDefinition("calls", .integer, rule: .counter, was: ["n"]), ColumnDefinition("stars", .integer, default: 3),
      removed: ["fax"])
    let upgrade = try SchemaUpgrade(from: Self.schema(1, old), to: Self.schema(2, new))
    let life = Incarnation(tag: VersionTag(raw: Bytes16(high: 1, low: 2)), index: 0)
    let key = RowKey("t", "x")
    let before = [
      Operation(key, nil, .insert([Field("fax", "1"), Field("owner", "ana"), Field("title", "T")])),
      Operation(key, life, .set([Field("fax", "2"), Field("title", "U")], base: nil)),
      Operation(key, life, .set([Field("fax", "3")], base: nil)), Operation(key, life, .increment("n", by: 2)),
      Operation(key, life, .delete), Operation(RowKey("gone", "y"), life, .delete),
    ]
    #expect(
      upgrade.operations(before) == [
        Operation(key, nil, .insert([Field("heading", "T"), Field("owner", "ana"), Field("stars", 3)])),
        Operation(key, life, .set([Field("heading", "U")], base: nil)),
        Operation(key, life, .increment("calls", by: 2), place: 3),
        Operation(key, life, .delete, place: 4),
      ])
  }

  @Test func `an earlier version is none to go to, and another app has none`() throws {
    let table = Self.table()
    #expect(throws: SchemaError.self) { try SchemaUpgrade(from: Self.schema(2, table), to: Self.schema(1, table)) }
    var other = Self.schema(2, table)
    other.name = "other"
    #expect(throws: SchemaError.self) { try SchemaUpgrade(from: Self.schema(1, table), to: other) }
  }
}
