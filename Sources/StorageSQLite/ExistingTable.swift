// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables

/// Whether a table that is in the file already is one that Skerry can capture and compare by bytes.
///
/// Refused: a declared column that is missing, another primary key, a key, owner or membership column whose collation is not
/// BINARY (ids would be equal that are not), and a second unique index (REPLACE evicts rows by it without firing a trigger).
/// Columns that the schema does not declare stay the app's own.
struct ExistingTable {
  private let table: TableInfo

  init(_ table: TableInfo) { self.table = table }

  func check(on connection: SQLiteConnection) throws {
    let name = table.name
    let columns = try connection.query("SELECT name, pk FROM pragma_table_xinfo(?) ORDER BY cid", .text(name)) {
      ($0.text(0), Int($0.integer(1)))
    }
    if columns.isEmpty { return }
    let found = Set(columns.map(\.0))
    for column in table.columns where !found.contains(column.name) {
      throw refusal("column '\(column.name)' is missing")
    }
    let key = columns.filter { $0.1 > 0 }.sorted { $0.1 < $1.1 }.map(\.0)
    if key != table.definition.key { throw refusal("its primary key is \(key), \(table.definition.key) is declared") }
    let unique = try connection.first(
      "SELECT name FROM pragma_index_list(?) WHERE \"unique\" = 1 AND origin <> 'pk'", .text(name)
    ) { $0.text(0) }
    if let unique { throw refusal("index '\(unique)' is a second unique one") }
    let ids = table.definition.key + table.spaces.compactMap(\.column)
    let members = table.memberships.flatMap { [table.columns[$0.user].name, table.columns[$0.space].name] }
    for column in Set(ids + members).sorted() where try !isBinary(column, on: connection) {
      throw refusal("column '\(column)' is compared by another collation than BINARY")
    }
  }

  /// Asks SQLite itself how it compares the column: by letters alone, two texts are one.
  private func isBinary(_ column: String, on connection: SQLiteConnection) throws -> Bool {
    let sql = TableSQL(table)
    return try connection.first(
      """
      SELECT count(*) FROM (SELECT \(TableSQL.quoted(column)) AS c FROM \(sql.name) WHERE 0 UNION ALL SELECT 'a') AS t
      WHERE t.c = 'A' OR t.c = 'a '
      """
    ) { $0.integer(0) == 0 } ?? true
  }

  private func refusal(_ reason: String) -> StorageError {
    .otherSchema("table '\(table.name)' cannot be adopted: \(reason); change the table or the declaration")
  }
}
