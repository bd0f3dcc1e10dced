// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTesting
import SkerryWire
import Testing

/// Tables and columns called like SQL's words, like Skerry's own columns, and like what triggers call their rows.
@Suite struct AwkwardNameTests {
  private static let words = [
    "n", "tag", "key", "tbl", "dead", "spaces", "idx", "inc", "op", "hash", "members", "pos", "kind", "space", "app",
    "h",
    "new", "old", "excluded", "rowid", "oid", "select", "from", "where", "order", "group", "table", "index", "values",
    "null", "default", "primary", "check", "replace", "abort", "user", "count", "quote", "x", "captures", "rows",
  ]

  /// Each word is once a table, and in other tables the key, the owner and a column.
  private static let schema = Schema(
    "awkward", version: 1,
    features: [
      FeatureDefinition(
        "all", .replica,
        tables: words.indices.map { index in
          let (key, owner, other) = (word(index + 1), word(index + 2), word(index + 3))
          return TableDefinition(
            words[index],
            columns: [
              ColumnDefinition(other, .text, optional: true), ColumnDefinition(key, .text),
              ColumnDefinition(owner, .text, optional: true),
            ], key: [key], spaces: [.owner(column: owner, kind: "user")])
        })
    ])

  private static func word(_ index: Int) -> String { words[index % words.count] }

  @Test func `rows of any table with any columns are captured, judged, sequenced and told`() throws {
    let world = try ServerWorld(AwkwardNameTests.schema)
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    for table in world.sqlite.catalog.tables {
      let columns = table.columns.map { "\"\($0.name)\"" }
      let (name, list) = ("\"\(table.name)\"", columns.joined(separator: ", "))
      try world.foreign("INSERT INTO \(name)(\(list)) VALUES ('x', 'theirs', 'ana'), ('x', 'both', 'ana')")
      try world.foreign("UPDATE \(name) SET \(columns[0]) = 'y' WHERE \(columns[1]) = 'both'")
      try world.foreign("UPDATE \(name) SET \(columns[0]) = \(columns[0])")
      try world.foreign("DELETE FROM \(name) WHERE \(columns[1]) = 'theirs'")
      let (other, owner) = (table.columns[0].name, table.columns[2].name)
      let outcome = try world.judge(
        [.insert(table.name, "ours", [other: "z", owner: "ana"]), .set(table.name, "both", [other: "w"])], as: "ana")
      #expect(outcome == "confirmed", "\(table.name)")
      let items = Set(try world.catchUp(&cursor, as: "ana").map(\.text))
      #expect(
        items == [
          "receipt confirmed", "put \(table.name)/ours in user:ana", "put \(table.name)/both in user:ana",
        ], "\(table.name)")
      #expect(try world.row(table.name, "both")?.values == ["w", "both", "ana"], "\(table.name)")
    }
  }

  @Test func `a table of five hundred columns is captured`() throws {
    let columns = (0..<499).map { ColumnDefinition("column_\($0)", .text, optional: true) }
    let table = TableDefinition(
      "wide", columns: [ColumnDefinition("id", .text)] + columns, spaces: [.owner(column: "column_498", kind: "user")])
    let world = try ServerWorld(
      Schema("wide", version: 1, features: [FeatureDefinition("all", .replica, tables: [table])]))
    try world.foreign("INSERT INTO wide(id, column_498) VALUES ('a', 'ana')")
    try world.server.sequence()
    try world.foreign("UPDATE wide SET column_0 = NULL, column_497 = NULL")
    #expect(try !world.storage.read { try $0.hasCaptures() })
    try world.foreign("UPDATE wide SET column_497 = 'x'")
    #expect(try world.storage.read { try $0.captures().count } == 1)
    #expect(try world.judge([.set("wide", "a", ["column_250": "y"])], as: "ana") == "confirmed")
  }
}
