// SPDX-License-Identifier: Apache-2.0
import SkerrySQLiteKit

/// A database as text: every row of every table, whatever it means.
struct Dump {
  private let connection: SQLiteConnection
  private let sql: String

  init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    let tables = try connection.query(
      """
      SELECT name, (SELECT group_concat('quote("' || c.name || '")', ' || '' '' || ') FROM pragma_table_info(t.name) AS c)
      FROM sqlite_schema AS t WHERE type = 'table'
      """
    ) { "SELECT '\($0.text(0)) ' || \($0.text(1)) AS line FROM \"\($0.text(0))\"" }
    let lines = tables.isEmpty ? "SELECT NULL AS line" : tables.joined(separator: " UNION ALL ")
    sql = "SELECT group_concat(line, char(10)) FROM (SELECT line FROM (\(lines)) ORDER BY line)"
  }

  /// The tables are those that were there when this was made.
  func text() throws -> String { try connection.first(sql) { $0.text(0) } ?? "" }
}
