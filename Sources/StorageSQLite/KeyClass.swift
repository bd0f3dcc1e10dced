// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryTables

/// What a key must be for a device to have it: each column of the class that the schema declares, not null, and text without
/// NUL, at which `quote()` would end.
struct KeyClass {
  private let table: TableInfo

  init(_ table: TableInfo) { self.table = table }

  /// Holds for such keys; `prefix` is `NEW`, `OLD` or a table's name.
  func condition(_ prefix: String) -> String {
    "(" + table.keyColumns.map { KeyClass.condition(table.columns[$0], prefix) }.joined(separator: " AND ") + ")"
  }

  static func condition(_ column: ColumnDefinition, _ prefix: String) -> String {
    let name = "\(prefix).\(TableSQL.quoted(column.name))"
    let isOfClass = "typeof(\(name)) = '\(column.storageClass.lowercased())'"
    return column.storageClass == "TEXT" ? "\(isOfClass) AND instr(\(name), char(0)) = 0" : isOfClass
  }

  /// Whether a column that is declared so in SQL keeps the class of what is written into it. By its affinity
  /// (https://www.sqlite.org/datatype3.html#determination_of_column_affinity) SQLite would make the number 12 of the text
  /// '12', and the row that a device wrote would have another key.
  static func keeps(_ column: ColumnDefinition, declaredAs type: String) -> Bool {
    let isInteger = has(type, "INT")
    let isText = !isInteger && (has(type, "CHAR") || has(type, "CLOB") || has(type, "TEXT"))
    let isNone = type.isEmpty || !isInteger && !isText && has(type, "BLOB")
    switch column.type {
    case .text, .json, .decimal: return isText || isNone
    case .uuid, .date: return true  // neither looks like a number, whatever the affinity
    case .integer, .boolean, .timestamp:
      let isReal = has(type, "REAL") || has(type, "FLOA") || has(type, "DOUB")
      return isInteger || isNone || !isText && !isReal
    case .real, .blob: return true
    }
  }

  private static func has(_ type: String, _ part: String) -> Bool { type.uppercased().contains(part) }
}
