// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables

/// Brings the tables that an earlier version of the schema has captured to a later one: renamed tables and columns get their new
/// names, added columns are added. What a program has changed by itself already is left as it is.
///
/// Columns that the schema has removed stay, as columns of the app's own; nothing of the server's is ever dropped.
struct EarlierTables {
  private let catalog: Catalog
  private let upgrade: SchemaUpgrade?
  private let captured: Set<String>

  /// - Parameters:
  ///   - triggers: the names of Skerry's triggers in the file.
  ///   - upgrade: what leads here from the schema that the file was served by, if it is known and a way leads.
  init(_ catalog: Catalog, _ triggers: [String], _ upgrade: SchemaUpgrade?) {
    self.catalog = catalog
    self.upgrade = upgrade
    let prefix = "skerry_insert_"
    let names = triggers.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    // An operator may have dropped triggers since.
    captured = Set(names + (upgrade?.tables.map(\.old.name) ?? []))
  }

  /// Whether the table was captured before, under this name or one of its former ones.
  func wasCaptured(_ table: TableInfo) -> Bool { !names(table).isDisjoint(with: captured) }

  private func names(_ table: TableInfo) -> Set<String> { Set([table.name] + table.definition.formerNames) }

  /// Also in what Skerry keeps of each row: its header and the captures that nobody has sequenced.
  func renameTables(on connection: SQLiteConnection) throws {
    for table in catalog.tables where !captured.contains(table.name) {
      guard let old = table.definition.formerNames.first(where: captured.contains) else { continue }
      if try !hasTable(table.name, connection), try hasTable(old, connection) {
        try connection.execute("ALTER TABLE \(TableSQL.quoted(old)) RENAME TO \(TableSQL.quoted(table.name))")
      }
      for source in ["skerry_rows", "skerry_captures"] {
        try connection.run("UPDATE \(source) SET tbl = ? WHERE tbl = ?", .text(table.name), .text(old))
      }
    }
  }

  /// Gives columns their new names, and adds those that are new.
  func alterColumns(on connection: SQLiteConnection) throws {
    for table in catalog.tables where wasCaptured(table) {
      let found = try columns(of: table, connection)
      if found.isEmpty { continue }
      for statement in Renaming.statements(columns: renamed(table, found), of: table.name) {
        try connection.execute(statement)
      }
      let there = try columns(of: table, connection)
      for (column, declaration) in zip(table.columns, ServerSchema.columnDeclarations(table))
      where !there.contains(column.name) {
        let reference = column.initialValue.isNull ? ServerSchema.reference(column, catalog) : nil
        let parts = [declaration, reference].compactMap(\.self).joined(separator: " ")
        try connection.execute("ALTER TABLE \(TableSQL(table).name) ADD COLUMN \(parts)")
      }
    }
  }

  private func columns(of table: TableInfo, _ connection: SQLiteConnection) throws -> Set<String> {
    Set(try connection.query("SELECT name FROM pragma_table_xinfo(?)", .text(table.name)) { $0.text(0) })
  }

  /// The columns that are to have another name; what a program has renamed by itself is left. Where it is not known what the table
  /// was, a column that is missing is the one that is there under one of its former names.
  private func renamed(_ table: TableInfo, _ found: Set<String>) -> [(old: String, new: String)] {
    guard let known = upgrade?.tables.first(where: { $0.new.name == table.name }) else {
      return table.columns.filter { !found.contains($0.name) }.compactMap { column in
        column.formerNames.first(where: found.contains).map { ($0, column.name) }
      }
    }
    let all = known.renamedColumns
    let moving = Set(all.map(\.old))
    return all.filter { found.contains($0.old) && (!found.contains($0.new) || moving.contains($0.new)) }
  }

  /// To be asked while Skerry's triggers are there: what helps names them.
  ///
  /// - Throws: `StorageError.otherSchema` if a removed column wants a value that nobody gives any more.
  func checkRemovedColumns(on connection: SQLiteConnection) throws {
    for table in catalog.tables where wasCaptured(table) { try checkRemoved(table, connection) }
  }

  private func checkRemoved(_ table: TableInfo, _ connection: SQLiteConnection) throws {
    let needed = try connection.query(
      "SELECT name FROM pragma_table_xinfo(?) WHERE \"notnull\" = 1 AND dflt_value IS NULL", .text(table.name)
    ) { $0.text(0) }
    for column in table.definition.removed where needed.contains(column) {
      throw StorageError.otherSchema(
        "column '\(column)' of table '\(table.name)' is removed from the schema, and the database takes no row without it; "
          + "drop it there while nothing else writes: \(try dropping(column, of: table.name, connection))")
    }
  }

  /// The statements that drop a column, which SQLite does not do while a trigger or an index names it. The server makes anew
  /// what is its own.
  private func dropping(_ column: String, of table: String, _ connection: SQLiteConnection) throws -> String {
    let triggers = try connection.query(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ? AND substr(name, 1, 7) = 'skerry_'",
      .text(table)
    ) { "DROP TRIGGER \(TableSQL.quoted($0.text(0)))" }
    let indexes = try connection.query(
      """
      SELECT l.name FROM pragma_index_list(?) AS l JOIN pragma_index_info(l.name) AS i
      WHERE i.name = ? AND substr(l.name, 1, 7) = 'skerry_'
      """, .text(table), .text(column)
    ) { "DROP INDEX \(TableSQL.quoted($0.text(0)))" }
    let drop = "ALTER TABLE \(TableSQL.quoted(table)) DROP COLUMN \(TableSQL.quoted(column))"
    return (triggers + indexes + [drop]).joined(separator: "; ")
  }

  private func hasTable(_ name: String, _ connection: SQLiteConnection) throws -> Bool {
    try connection.first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(name)) { _ in true }
      ?? false
  }
}
