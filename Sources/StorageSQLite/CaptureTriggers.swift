// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryTables

/// The triggers that capture each change of a table in the writer's own transaction, and keep the row's header.
///
/// They use SQL that any connection has, so that other programs' writes are captured too. A key that changes is the end of
/// one row and the beginning of another. `INSERT OR REPLACE` on a live key fires only the insert's trigger, which keeps the
/// incarnation of a header that is not dead; a REPLACE that evicts another row by a second unique key is not captured
/// (https://www.sqlite.org/lang_conflict.html, unless `recursive_triggers` is on), so the tables have no second one.
///
/// A row whose key no device could send (an adopted table takes 1.5 for an integer, too) is passed over: such a capture would
/// hold up every pull.
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
    let (old, new) = (KeyClass(table).condition("OLD"), KeyClass(table).condition("NEW"))
    return [
      trigger("insert", "AFTER INSERT", new, alive("NEW", 0)),
      trigger("update", "AFTER UPDATE", "(\(sameKey)) AND (\(changed)) AND \(new)", alive("NEW", 1)),
      trigger("rekey_old", "AFTER UPDATE", "NOT (\(sameKey)) AND \(old)", dead("OLD")),
      trigger("rekey_new", "AFTER UPDATE", "NOT (\(sameKey)) AND \(new)", alive("NEW", 0)),
      trigger("delete", "AFTER DELETE", old, dead("OLD")),
    ]
  }

  /// Captures each row that has a header under the version that it has, and removes the headers of rows that are not there:
  /// what a later schema needs to derive everything anew.
  var recapture: [String] {
    let key = KeyText.expression(table, prefix: sql.name)
    return [
      """
      INSERT INTO skerry_captures(tbl, key, op, tag)
        SELECT h.tbl, h.key, 1, h.tag FROM \(sql.name)
        JOIN skerry_rows AS h ON h.tbl = '\(table.name)' AND h.key = \(key)
        WHERE \(KeyClass(table).condition(sql.name))
      """,
      """
      DELETE FROM skerry_rows WHERE tbl = '\(table.name)'
        AND key NOT IN (SELECT key FROM skerry_captures WHERE tbl = '\(table.name)')
      """,
    ]
  }

  /// Captures each row that has a value in one of these columns, under the version that it has: nobody captured it when it was
  /// written, since the column was not declared yet.
  func recapture(withValuesIn columns: [Int]) -> [String] {
    if columns.isEmpty { return [] }
    let key = KeyText.expression(table, prefix: sql.name)
    let hasValue = columns.map { index in
      let column = table.columns[index]
      return "\(sql.name).\(TableSQL.quoted(column.name)) IS NOT \(TableSQL.literal(column.initialValue))"
    }
    return [
      """
      INSERT INTO skerry_captures(tbl, key, op, tag)
        SELECT h.tbl, h.key, 1, h.tag FROM \(sql.name)
        JOIN skerry_rows AS h ON h.tbl = '\(table.name)' AND h.key = \(key)
        WHERE \(KeyClass(table).condition(sql.name)) AND (\(hasValue.joined(separator: " OR ")))
      """
    ]
  }

  /// The tag of a write that is no mutation's: a UUID of version 8, which no mutation has for an id (`VersionTag.isForeign`).
  private static let foreignTag = "CAST(randomblob(6) || x'80' || randomblob(9) AS BLOB)"

  /// Captures the rows that have no header: those that were there before Skerry.
  var adoption: [String] {
    let key = KeyText.expression(table, prefix: sql.name)
    return [
      """
      INSERT INTO skerry_captures(tbl, key, op, tag)
        SELECT '\(table.name)', \(key), 0, \(CaptureTriggers.foreignTag) FROM \(sql.name)
        WHERE \(KeyClass(table).condition(sql.name))
          AND NOT EXISTS (SELECT 1 FROM skerry_rows AS h WHERE h.tbl = '\(table.name)' AND h.key = \(key))
      """,
      """
      INSERT INTO skerry_rows(tbl, key, n, tag, inc, idx, dead)
        SELECT tbl, key, n, tag, tag, 0, 0 FROM skerry_captures AS c
        WHERE tbl = '\(table.name)' AND op = 0
          AND NOT EXISTS (SELECT 1 FROM skerry_rows AS h WHERE h.tbl = c.tbl AND h.key = c.key)
      """,
    ]
  }

  private func trigger(_ name: String, _ event: String, _ condition: String, _ body: [String]) -> String {
    """
    CREATE TRIGGER IF NOT EXISTS "skerry_\(name)_\(table.name)" \(event) ON \(sql.name)
    WHEN \(condition) BEGIN \(body.joined(separator: "; ")); END
    """
  }

  private func capture(_ prefix: String, _ operation: Int) -> String {
    """
    INSERT INTO skerry_captures(tbl, key, op, tag) VALUES ('\(table.name)', \(KeyText.expression(table, prefix: prefix)),
      \(operation), coalesce((SELECT tag FROM skerry_writer), \(CaptureTriggers.foreignTag)))
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
