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

  /// - Parameter triggers: the names of Skerry's triggers in the file.
  init(_ catalog: Catalog, _ triggers: [String]) {
    self.catalog = catalog
    let prefix = "skerry_insert_"
    captured = Set(triggers.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
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

  /// - Throws: `StorageError.otherSchema` if a removed column wants a value that nobody gives any more.
  func alterColumns(on connection: SQLiteConnection) throws {
    for table in catalog.tables where wasCaptured(table) {
      try checkRemoved(table, connection)
      let sql = TableSQL(table)
      let declarations = sql.columnDeclarations(enforceNull: true)
      for (column, declaration) in zip(table.columns, declarations) {
        let found = Set(
          try connection.query("SELECT name FROM pragma_table_xinfo(?)", .text(table.name)) { $0.text(0) })
        if found.isEmpty || found.contains(column.name) { continue }
        if let old = column.formerNames.first(where: found.contains) {
          try connection.execute(
            "ALTER TABLE \(sql.name) RENAME COLUMN \(TableSQL.quoted(old)) TO \(TableSQL.quoted(column.name))")
        } else {
          let check = ServerSchema.check(column).map { " " + $0 } ?? ""
          try connection.execute("ALTER TABLE \(sql.name) ADD COLUMN \(declaration)\(check)")
        }
      }
    }
  }

  private func checkRemoved(_ table: TableInfo, _ connection: SQLiteConnection) throws {
    let needed = try connection.query(
      "SELECT name FROM pragma_table_xinfo(?) WHERE \"notnull\" = 1 AND dflt_value IS NULL", .text(table.name)
    ) { $0.text(0) }
    for column in table.definition.removed where needed.contains(column) {
      throw StorageError.otherSchema(
        "column '\(column)' of table '\(table.name)' is removed from the schema, and the database takes no row without it; "
          + "drop it there (ALTER TABLE \(table.name) DROP COLUMN \(column)) or give it a default")
    }
  }

  private func hasTable(_ name: String, _ connection: SQLiteConnection) throws -> Bool {
    try connection.first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(name)) { _ in true }
      ?? false
  }
}
