// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables

/// Whether a table that is in the file already is one that Skerry can capture and compare by bytes.
///
/// Refused: a declared column that is missing, another primary key, a key, owner or membership column whose collation is not
/// BINARY (ids would be equal that are not), a key column that may be null or that changes the class of what is written into
/// it, a second unique index (REPLACE evicts rows by it without firing a trigger), and foreign keys by which SQLite cannot
/// carry out a statement. Columns that the schema does not declare stay the app's own.
struct ExistingTable {
  private let table: TableInfo

  init(_ table: TableInfo) { self.table = table }

  private struct Column {
    let name: String
    let type: String
    let isNotNull: Bool
    let placeInKey: Int64
  }

  /// - Parameter isNew: whether it is not captured yet; then the rows that it holds are checked too. Later ones that do not
  ///   fit are passed over by the triggers.
  func check(on connection: SQLiteConnection, isNew: Bool) throws {
    let name = table.name
    let columns = try connection.query(
      "SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?) ORDER BY cid", .text(name)
    ) { Column(name: $0.text(0), type: $0.text(1), isNotNull: $0.integer(2) != 0, placeInKey: $0.integer(3)) }
    if columns.isEmpty { return }
    let found = Set(columns.map(\.name))
    for column in table.columns where !found.contains(column.name) {
      throw refusal("column '\(column.name)' is missing")
    }
    let key = columns.filter { $0.placeInKey > 0 }.sorted { $0.placeInKey < $1.placeInKey }
    if key.map(\.name) != table.definition.key {
      throw refusal("its primary key is \(key.map(\.name)), \(table.definition.key) is declared")
    }
    for column in key { try check(column, on: connection, isNew: isNew) }
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

  /// A primary key of SQLite takes NULL, unless it is the row id itself (https://www.sqlite.org/lang_createtable.html, 3.5);
  /// then it has no index of its own.
  private func check(_ column: Column, on connection: SQLiteConnection, isNew: Bool) throws {
    guard let index = table.index(of: column.name) else { return }
    let declared = table.columns[index]
    let isIndexed = try connection.first(
      "SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'", .text(table.name)
    ) { _ in true }
    if isIndexed == true, !column.isNotNull {
      throw refusal("key column '\(column.name)' may be null", "declare it NOT NULL in the database")
    }
    if !KeyClass.keeps(declared, declaredAs: column.type) {
      throw refusal(
        "key column '\(column.name)' is \(column.type) in the database, which does not keep what \(declared.type.rawValue) holds",
        "declare it \(declared.storageClass) there")
    }
    if !isNew { return }
    let sql = TableSQL(table)
    let odd =
      try connection.first(
        "SELECT count(*) FROM \(sql.name) WHERE NOT (\(KeyClass.condition(declared, sql.name)))"
      ) { $0.integer(0) } ?? 0
    if odd > 0 {
      throw refusal(
        "\(odd) rows have no \(declared.type.rawValue) in key column '\(column.name)'", "repair or remove these rows")
    }
  }

  /// Prepares what a push may do, so that foreign keys that name no table or no unique column are found now and not by each
  /// push. Nothing is carried out.
  func checkStatements(on connection: SQLiteConnection) throws {
    let sql = TableSQL(table)
    let sets = table.columns.map { "\(TableSQL.quoted($0.name)) = NULL" }.joined(separator: ", ")
    for statement in [
      "INSERT INTO \(sql.name) DEFAULT VALUES", "UPDATE \(sql.name) SET \(sets)", "DELETE FROM \(sql.name)",
    ] {
      do { _ = try connection.statement(statement) } catch {
        throw refusal("SQLite cannot write it (\(error.message))", "repair the table that this names")
      }
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

  private func refusal(_ reason: String, _ remedy: String = "change the table or the declaration") -> StorageError {
    .otherSchema("table '\(table.name)' cannot be adopted: \(reason); \(remedy)")
  }
}
