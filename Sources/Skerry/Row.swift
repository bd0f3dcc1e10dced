// SPDX-License-Identifier: Apache-2.0

public import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTables

/// A row of a query's result: values by the names of its columns.
public struct Row: Sendable, Equatable {
  /// The names of the columns, in the order of the query.
  public let columns: [String]
  /// The values, in the same order.
  public let values: [Value]

  /// The value of the first column with this name; nil if there is no such column.
  public subscript(_ column: String) -> Value? {
    columns.firstIndex { $0.utf8.elementsEqual(column.utf8) }.map { values[$0] }
  }

  static func read(_ sql: String, _ values: [Value], from connection: SQLiteConnection) throws -> [Row] {
    let statement = try connection.statement(sql)
    guard statement.isReadOnly else {
      throw StoreError(.notReadOnly, "the statement could change the file; change rows in write")
    }
    let names = statement.columnNames
    let shown = names.indices.filter { !names[$0].hasPrefix("skerry_") }
    let columns = shown.map { names[$0] }
    return try statement.query(values.map(\.sqlite)) { row in
      Row(columns: columns, values: shown.map(row.modelValue))
    }
  }
}
