// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables

/// Whether a table that is in the file already is one that Skerry can capture and compare by bytes.
///
/// Refused: other columns or storage classes than declared, another key, a table that is not STRICT (a column may then hold
/// any class), another collation than BINARY (ids would be equal that are not), and a second unique index (REPLACE evicts rows
/// by it without firing a trigger).
struct ExistingTable {
  private let table: TableInfo

  init(_ table: TableInfo) { self.table = table }

  func check(on connection: SQLiteConnection) throws {
    let name = table.name
    let strict = try connection.first(
      "SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name = ?", .text(name)
    ) { $0.integer(0) }
    guard let strict else { return }
    if strict == 0 { throw refusal("it is not STRICT") }
    let columns = try connection.query("SELECT name, type, pk FROM pragma_table_xinfo(?) ORDER BY cid", .text(name)) {
      ($0.text(0), $0.text(1), Int($0.integer(2)))
    }
    let found = Dictionary(columns.map { ($0.0, $0.1) }) { first, _ in first }
    for column in table.columns where found[column.name] != column.storageClass {
      throw refusal("column '\(column.name)' is \(found[column.name] ?? "missing"), \(column.storageClass) is declared")
    }
    if columns.count != table.columns.count { throw refusal("it has columns that the schema does not declare") }
    let key = columns.filter { $0.2 > 0 }.sorted { $0.2 < $1.2 }.map(\.0)
    if key != table.definition.key { throw refusal("its primary key is \(key), \(table.definition.key) is declared") }
    let unique = try connection.first(
      "SELECT name FROM pragma_index_list(?) WHERE \"unique\" = 1 AND origin <> 'pk'", .text(name)
    ) { $0.text(0) }
    if let unique { throw refusal("index '\(unique)' is a second unique one") }
    let sql = try connection.first("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(name)) {
      $0.text(0).uppercased()
    }
    if let sql, sql.contains("NOCASE") || sql.contains("RTRIM") { throw refusal("a column's collation is not BINARY") }
  }

  private func refusal(_ reason: String) -> StorageError {
    .otherSchema("table '\(table.name)' cannot be adopted: \(reason); change the table or the declaration")
  }
}
