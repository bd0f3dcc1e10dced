// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerrySQLiteKit
import SkerryTables

/// The app's tables as queries see them: views of one connection that stand in front of the tables of the same names.
///
/// They have the declared columns and no others, and show the placeholder of a late-bound column that has no value yet. SQLite
/// takes such a view apart, so a query through it costs what it costs without.
package enum QueryViews {
  /// Makes the views on a connection, which may be one that only reads.
  ///
  /// - Throws: `SchemaError` if a placeholder is no expression over the row's columns.
  package static func create(_ catalog: Catalog, on connection: SQLiteConnection) throws {
    // They are the connection's own; the file is not touched.
    let isReader = try connection.first("PRAGMA query_only") { $0.integer(0) != 0 } ?? false
    if isReader { try connection.execute("PRAGMA query_only = OFF") }
    defer { if isReader { try? connection.execute("PRAGMA query_only = ON") } }
    for table in catalog.tables + catalog.localTables {
      do { try create(table, on: connection) } catch { throw placeholderFault(table, on: connection) ?? error }
    }
  }

  private static func create(_ table: TableInfo, on connection: SQLiteConnection) throws {
    let sql = TableSQL(table)
    try connection.execute("CREATE TEMP VIEW \(sql.name) AS \(select(table))")
    // A placeholder is checked here, and not by the first query; without one there is nothing to be wrong.
    if table.columns.contains(where: { $0.placeholder != nil }) {
      try connection.execute("SELECT * FROM \(sql.name) LIMIT 0")
    }
  }

  /// The rows of a table as its view shows them, with the state and the incarnation of each beside the declared columns.
  static func tracked(_ table: TableInfo) -> String { "(\(select(table, and: ", skerry_state, skerry_inc")))" }

  private static func select(_ table: TableInfo, and hidden: String = "") -> String {
    let columns = table.columns.map { column in
      let name = TableSQL.quoted(column.name)
      return column.placeholder.map { "coalesce(\(name), (\($0))) AS \(name)" } ?? name
    }
    return "SELECT \(columns.joined(separator: ", "))\(hidden) FROM \(TableSQL(table).mainName)"
  }

  /// The fault of the first placeholder that SQLite does not take; nil if they are all right.
  private static func placeholderFault(_ table: TableInfo, on connection: SQLiteConnection) -> SchemaError? {
    for column in table.columns {
      guard let placeholder = column.placeholder else { continue }
      do { _ = try connection.statement("SELECT (\(placeholder)) FROM \(TableSQL(table).mainName)") } catch {
        return SchemaError(
          table.name, column.name, "its placeholder is no SQL expression over the row (\(error.message))",
          "write one such as 'DRAFT-' || substr(id, -6)")
      }
    }
    return nil
  }
}
