// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryTables

/// The rows of tables that are on the device only: no base, no outbox, no versions.
enum LocalRows {
  /// The row's columns in the schema's order; nil if there is none.
  static func values(_ key: RowKey, _ table: TableInfo, _ connection: SQLiteConnection) throws -> [Value]? {
    try connection.statement(StatementName("local row", table.number)) {
      let sql = TableSQL(table)
      return "SELECT \(sql.columns) FROM \(sql.mainName) WHERE \(sql.keyCondition)"
    }.first(key.values.map(\.sqlite)) { $0.modelValues(0..<table.columns.count) }
  }

  static func insert(_ operation: Operation, _ table: TableInfo, _ connection: SQLiteConnection) throws {
    var values = [Value](repeating: .null, count: table.columns.count)
    for (column, value) in zip(table.keyColumns, operation.key.values) { values[column] = value }
    for field in operation.fields { if let column = table.index(of: field.column) { values[column] = field.value } }
    try connection.statement(StatementName("insert locally", table.number)) {
      let sql = TableSQL(table)
      return "INSERT INTO \(sql.mainName)(\(sql.columns)) VALUES (\(placeholders(table.columns.count)))"
    }.run(values.map(\.sqlite))
  }

  static func update(_ fields: [Field], _ key: RowKey, _ table: TableInfo, _ connection: SQLiteConnection) throws {
    let sql = TableSQL(table)
    let sets = fields.map { TableSQL.quoted($0.column) + " = ?" }.joined(separator: ", ")
    try connection.statement("UPDATE \(sql.mainName) SET \(sets) WHERE \(sql.keyCondition)")
      .run(fields.map(\.value.sqlite) + key.values.map(\.sqlite))
  }

  static func delete(_ key: RowKey, _ table: TableInfo, _ connection: SQLiteConnection) throws {
    let sql = TableSQL(table)
    try connection.statement("DELETE FROM \(sql.mainName) WHERE \(sql.keyCondition)").run(key.values.map(\.sqlite))
  }
}
