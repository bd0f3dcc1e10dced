// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerrySQLiteKit
import SkerryTables

/// Rows as text: what a failing story shows.
package enum RowText {
  /// All rows of the app's tables, one a line, in the order of their keys.
  package static func all(_ catalog: Catalog, _ connection: SQLiteConnection) throws -> String {
    try catalog.tables.map { table in
      let sql = TableSQL(table)
      let rows = try connection.query("SELECT \(sql.columns) FROM \(sql.name) ORDER BY \(sql.keyColumns)") { row in
        line(table.name, row.modelValues(0..<table.columns.count))
      }
      return rows.joined()
    }.joined()
  }

  /// One row in one line.
  package static func line(_ table: String, _ values: [Value]) -> String {
    "  \(table) " + values.map(text).joined(separator: " | ") + "\n"
  }

  /// A value as people read it; a dash for none.
  package static func text(_ value: Value) -> String {
    switch value {
    case .null: "-"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    case .blob(let bytes): Hex.text(bytes)
    }
  }
}
