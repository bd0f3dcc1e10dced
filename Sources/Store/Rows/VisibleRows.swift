// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryTables

/// The app's tables on the device, as the user sees them.
enum VisibleRows {
  /// The row as it is visible; nil if there is none.
  static func state(_ key: RowKey, _ table: TableInfo, _ connection: SQLiteConnection) throws -> RowState? {
    try read(key, table, connection) { try state($0, table, key) }
  }

  /// Reads the columns, then tag, incarnation, space and generation.
  static func read<T>(
    _ key: RowKey, _ table: TableInfo, _ connection: SQLiteConnection, _ row: (SQLiteRow) throws -> T
  ) throws -> T? {
    try connection.statement(StatementName("visible", table.number)) {
      let sql = TableSQL(table)
      return "SELECT \(sql.columns), \(hiddenColumns) FROM \(sql.mainName) WHERE \(sql.keyCondition)"
    }.first(key.values.map(\.sqlite), row: row)
  }

  static func state(_ row: SQLiteRow, _ table: TableInfo, _ key: RowKey) throws -> RowState {
    let count = table.columns.count
    guard let version = VersionTag(bytes: row.blob(count)), let incarnation = Incarnation(bytes: row.blob(count + 1))
    else { throw StoreError(.damaged, "hidden columns of \(key)") }
    return RowState(values: row.modelValues(0..<count), version: version, incarnation: incarnation)
  }

  /// The hidden columns of a row that the outbox touches: no space, no generation, state 1.
  static let pending: [SQLiteValue] = [.null, .null, .integer(1)]

  /// `hidden` are space, generation and state.
  static func write(
    _ key: RowKey, _ table: TableInfo, _ state: RowState, hidden: [SQLiteValue], replacing: Bool,
    _ connection: SQLiteConnection
  ) throws {
    var values: [SQLiteValue] = []
    values.reserveCapacity(state.values.count + 5)
    for value in state.values { values.append(value.sqlite) }
    values.append(.blob(state.version.raw.bytes))
    values.append(.blob(state.incarnation.bytes))
    values += hidden
    // The key is the only constraint, so a REPLACE evicts nothing but the row itself.
    let name = replacing ? StatementName("show again", table.number) : StatementName("show", table.number)
    try connection.statement(name) {
      let sql = TableSQL(table)
      return """
        INSERT \(replacing ? "OR REPLACE" : "") INTO \(sql.mainName)(\(sql.columns), \(hiddenColumns), skerry_state)
        VALUES (\(placeholders(table.columns.count + 5)))
        """
    }.run(values)
  }

  static func delete(_ key: RowKey, _ table: TableInfo, _ connection: SQLiteConnection) throws {
    try connection.statement(StatementName("hide", table.number)) {
      let sql = TableSQL(table)
      return "DELETE FROM \(sql.mainName) WHERE \(sql.keyCondition)"
    }.run(key.values.map(\.sqlite))
  }

  private static let hiddenColumns = "skerry_tag, skerry_inc, skerry_space, skerry_gen"
}
