// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryTables

/// The triggers that capture each change of a table in the writer's own transaction, and keep the row's header.
///
/// They use SQL that any connection has, so that other programs' writes are captured too. A key that changes is the end of
/// one row and the beginning of another. `INSERT OR REPLACE` on a live key fires only the insert's trigger, which keeps the
/// incarnation of a header that is not dead; a REPLACE that evicts another row by a second unique key is not captured
/// (https://www.sqlite.org/lang_conflict.html, unless `recursive_triggers` is on), so the tables have no second one.
struct CaptureTriggers {
  private let table: TableInfo
  private let sql: TableSQL

  init(_ table: TableInfo) {
    self.table = table
    sql = TableSQL(table)
  }

  var statements: [String] {
    let sameKey = table.definition.key.map { "OLD.\(TableSQL.quoted($0)) IS NEW.\(TableSQL.quoted($0))" }
      .joined(separator: " AND ")
    // The collation is said on the left side, which decides it for the comparison.
    let changed = table.columns.map {
      "OLD.\(TableSQL.quoted($0.name)) COLLATE BINARY IS NOT NEW.\(TableSQL.quoted($0.name))"
    }
    .joined(separator: " OR ")
    return [
      trigger("insert", "AFTER INSERT", nil, alive("NEW", 0)),
      trigger("update", "AFTER UPDATE", "(\(sameKey)) AND (\(changed))", alive("NEW", 1)),
      trigger("rekey", "AFTER UPDATE", "NOT (\(sameKey))", dead("OLD") + alive("NEW", 0)),
      trigger("delete", "AFTER DELETE", nil, dead("OLD")),
    ]
  }

  /// Captures the rows that have no header: those that were there before Skerry.
  var adoption: [String] {
    let key = KeyText.expression(table, prefix: sql.name)
    return [
      """
      INSERT INTO skerry_captures(tbl, key, op, tag)
        SELECT '\(table.name)', \(key), 0, randomblob(16) FROM \(sql.name)
        WHERE NOT EXISTS (SELECT 1 FROM skerry_rows AS h WHERE h.tbl = '\(table.name)' AND h.key = \(key))
      """,
      """
      INSERT INTO skerry_rows(tbl, key, n, tag, inc, idx, dead)
        SELECT tbl, key, n, tag, tag, 0, 0 FROM skerry_captures AS c
        WHERE tbl = '\(table.name)' AND op = 0
          AND NOT EXISTS (SELECT 1 FROM skerry_rows AS h WHERE h.tbl = c.tbl AND h.key = c.key)
      """,
    ]
  }

  private func trigger(_ name: String, _ event: String, _ condition: String?, _ body: [String]) -> String {
    """
    CREATE TRIGGER IF NOT EXISTS "skerry_\(name)_\(table.name)" \(event) ON \(sql.name)
    \(condition.map { "WHEN \($0)" } ?? "") BEGIN \(body.joined(separator: "; ")); END
    """
  }

  private func capture(_ prefix: String, _ operation: Int) -> String {
    """
    INSERT INTO skerry_captures(tbl, key, op, tag) VALUES ('\(table.name)', \(KeyText.expression(table, prefix: prefix)),
      \(operation), coalesce((SELECT tag FROM skerry_writer), randomblob(16)))
    """
  }

  /// `last_insert_rowid()` is the capture's number: within a trigger it tells of the trigger's own inserts.
  private func alive(_ prefix: String, _ operation: Int) -> [String] {
    [
      capture(prefix, operation),
      """
      INSERT INTO skerry_rows(tbl, key, n, tag, inc, idx, dead)
        SELECT tbl, key, n, tag, tag, coalesce((SELECT idx FROM skerry_writer), 0), 0 FROM skerry_captures
        WHERE n = last_insert_rowid()
        ON CONFLICT(tbl, key) DO UPDATE SET n = excluded.n, tag = excluded.tag,
          inc = CASE WHEN dead THEN excluded.inc ELSE inc END,
          idx = CASE WHEN dead THEN excluded.idx ELSE idx END, dead = 0
      """,
    ]
  }

  private func dead(_ prefix: String) -> [String] {
    [
      capture(prefix, 2),
      """
      UPDATE skerry_rows SET n = last_insert_rowid(), dead = 1,
        tag = (SELECT tag FROM skerry_captures WHERE n = last_insert_rowid())
        WHERE tbl = '\(table.name)' AND key = \(KeyText.expression(table, prefix: prefix))
      """,
    ]
  }
}
