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
  private let captured: Set<String>

  /// - Parameters:
  ///   - triggers: the names of Skerry's triggers in the file.
  ///   - earlier: the schema that the file was served by before, if it is known: an operator may have dropped triggers since.
  init(_ catalog: Catalog, _ triggers: [String], _ earlier: Schema?) {
    self.catalog = catalog
    let prefix = "skerry_insert_"
    let names = triggers.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    captured = Set(names + (earlier?.features.flatMap(\.tables).map(\.name) ?? []))
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

  ///
  /// - Parameter upgrade: what leads here from the schema that the file was served by, if it is known and a way leads.
  func alterColumns(on connection: SQLiteConnection, by upgrade: SchemaUpgrade?) throws {
    for table in upgrade?.tables ?? [] { try renameColumns(table, connection) }
    for table in catalog.tables where wasCaptured(table) {
      let sql = TableSQL(table)
      let declarations = ServerSchema.columnDeclarations(table)
      for (column, declaration) in zip(table.columns, declarations) {
        let found = Set(
          try connection.query("SELECT name FROM pragma_table_xinfo(?)", .text(table.name)) { $0.text(0) })
        if found.isEmpty || found.contains(column.name) { continue }
        if let old = column.formerNames.first(where: found.contains) {
          try connection.execute(
            "ALTER TABLE \(sql.name) RENAME COLUMN \(TableSQL.quoted(old)) TO \(TableSQL.quoted(column.name))")
        } else {
          let reference = column.initialValue.isNull ? ServerSchema.reference(column, catalog) : nil
          let parts = [declaration, reference].compactMap(\.self).joined(separator: " ")
          try connection.execute("ALTER TABLE \(sql.name) ADD COLUMN \(parts)")
        }
      }
    }
  }

  /// By way of names that nothing has: a name may be taken by another column, and two may change places. What a program has renamed
  /// by itself is left.
  private func renameColumns(_ table: SchemaUpgrade.Table, _ connection: SQLiteConnection) throws {
    let found = Set(
      try connection.query("SELECT name FROM pragma_table_xinfo(?)", .text(table.new.name)) { $0.text(0) })
    let all = zip(table.sources, table.new.columns).compactMap { source, column in
      source.map { (old: table.old.columns[$0].name, new: column.name) }
    }.filter { $0.old != $0.new }
    let moving = Set(all.map(\.old))
    let renamed = all.filter { found.contains($0.old) && (!found.contains($0.new) || moving.contains($0.new)) }
    let title = TableSQL.quoted(table.new.name)
    for (index, names) in renamed.enumerated() {
      try connection.execute(
        "ALTER TABLE \(title) RENAME COLUMN \(TableSQL.quoted(names.old)) TO skerry_moving_\(index)")
    }
    for (index, names) in renamed.enumerated() {
      try connection.execute(
        "ALTER TABLE \(title) RENAME COLUMN skerry_moving_\(index) TO \(TableSQL.quoted(names.new))")
    }
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
