// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerrySQLiteKit
import SkerryTables

/// The app's tables as queries see them: views of one connection that stand in front of the tables of the same names.
///
/// They have the declared columns and no others, and show the placeholder of a late-bound column that has no value yet. SQLite
/// takes such a view apart, so a query through it costs what it costs without.
package enum QueryViews {
  /// A view of a table that has the state and the incarnation of each row beside the declared columns.
  package static func tracked(_ table: String) -> String { "skerry_tracked_\(table)" }

  /// Makes the views on a connection, which may be one that only reads.
  ///
  /// - Throws: `SchemaError` if a placeholder is no expression over the row's columns.
  package static func create(_ catalog: Catalog, on connection: SQLiteConnection) throws {
    // They are the connection's own; the file is not touched.
    let isReader = try connection.first("PRAGMA query_only") { $0.integer(0) != 0 } ?? false
    if isReader { try connection.execute("PRAGMA query_only = OFF") }
    defer { if isReader { try? connection.execute("PRAGMA query_only = ON") } }
    for table in catalog.tables + catalog.localTables {
      for statement in statements(table) {
        do { try connection.execute(statement) } catch {
          throw placeholderFault(table, on: connection) ?? error
        }
      }
    }
  }

  private static func statements(_ table: TableInfo) -> [String] {
    let sql = TableSQL(table)
    let columns = table.columns.map { column in
      let name = TableSQL.quoted(column.name)
      return column.placeholder.map { "coalesce(\(name), (\($0))) AS \(name)" } ?? name
    }
    let list = columns.joined(separator: ", ")
    let plain = "CREATE TEMP VIEW \(sql.name) AS SELECT \(list) FROM \(sql.mainName)"
    if table.isLocal { return [plain] }
    let tracked = TableSQL.quoted(tracked(table.name))
    // The view is checked here, and not by the first query.
    return [
      plain, "CREATE TEMP VIEW \(tracked) AS SELECT \(list), skerry_state, skerry_inc FROM \(sql.mainName)",
      "SELECT * FROM \(sql.name) LIMIT 0",
    ]
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
