// SPDX-License-Identifier: Apache-2.0
import SkerrySQLiteKit

/// A database as text: every row of every table, whatever it means.
enum Dump {
  static func text(_ connection: SQLiteConnection) throws -> String {
    let tables = try connection.query(
      """
      SELECT name, (SELECT group_concat('quote("' || c.name || '")', ' || '' '' || ') FROM pragma_table_info(t.name) AS c)
      FROM sqlite_schema AS t WHERE type = 'table' ORDER BY name
      """
    ) { ($0.text(0), $0.text(1)) }
    var out = ""
    for (name, columns) in tables {
      let rows = try connection.query("SELECT \(columns) FROM \"\(name)\" ORDER BY 1") { $0.text(0) }
      out += name + "\n" + rows.map { "  " + $0 + "\n" }.joined()
    }
    return out
  }
}
