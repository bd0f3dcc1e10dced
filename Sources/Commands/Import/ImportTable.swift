// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryWire

/// Makes rows of a file into inserts of a table.
struct ImportTable {
  private let table: TableInfo
  private let catalog: Catalog
  private let path: String
  /// Columns of the file that are passed over.
  private let skipped: Set<String>

  init(_ table: TableInfo, _ catalog: Catalog, _ path: String, skipping skipped: Set<String>) {
    (self.table, self.catalog, self.path, self.skipped) = (table, catalog, path, skipped)
  }

  /// - Throws: `ImportError` with line and column.
  func insert(_ row: ImportRow) throws(ImportError) -> Operation {
    var fields: [Field] = []
    for (name, place, cell) in row.cells where !skipped.contains(name) {
      guard let index = table.index(of: name) else {
        throw ImportError(
          path, line: row.line, place: place, column: name,
          "\(table.name) has no such column; pass over it with --skip, or rename it in the file")
      }
      let column = table.columns[index]
      guard let value = value(cell, column) else {
        throw ImportError(
          path, line: row.line, place: place, column: name, "\(Self.wanted(column)) wanted, something else found")
      }
      // What the file does not say, the schema does.
      if value.isNull { continue }
      fields.append(Field(name, value))
    }
    var key: [Value] = []
    for name in table.definition.key {
      guard let field = fields.first(where: { $0.column == name }) else {
        throw ImportError(path, line: row.line, column: name, "it is part of the key, and the row has no value for it")
      }
      key.append(field.value)
    }
    let operation = Operation(RowKey(table.name, values: key), nil, .insert(fields))
    do { return try catalog.normalised(operation, in: table) } catch {
      throw ImportError(path, line: row.line, column: error.column, error.reason)
    }
  }

  private func value(_ cell: ImportRow.Cell, _ column: ColumnDefinition) -> Value? {
    switch cell {
    case .written(let text, let isQuoted):
      if text.isEmpty, !isQuoted { return .null }
      return KeyWords.value(text, column.type)
    case .json(let json): return value(json, column.type)
    case .stored(let value): return self.value(stored: value, column.type)
    }
  }

  private func value(_ json: JSON, _ type: ColumnType) -> Value? {
    if case .null = json { return .null }
    if type == .json { return .text(json.asText) }
    switch json {
    case .string(let text):
      let isText = [.text, .decimal, .date, .uuid, .blob].contains(type)
      return isText ? KeyWords.value(text, type) : nil
    case .integer(let number):
      switch type {
      case .integer, .timestamp: return .integer(number)
      case .real: return .real(Double(number))
      case .boolean: return (0...1).contains(number) ? .integer(number) : nil
      case .decimal: return .text("\(number)")
      case .text, .blob, .json, .date, .uuid: return nil
      }
    case .real(let number): return type == .real ? .real(number) : nil
    case .bool(let flag): return type == .boolean ? .integer(flag ? 1 : 0) : nil
    case .null, .array, .object: return nil
    }
  }

  /// SQLite keeps nearly any type in any column; what the schema says is checked afterwards.
  private func value(stored value: Value, _ type: ColumnType) -> Value? {
    switch (value, type) {
    case (.integer(let number), .real): .real(Double(number))
    case (.integer(let number), .decimal): .text("\(number)")
    default: value
    }
  }

  private static func wanted(_ column: ColumnDefinition) -> String {
    switch column.type {
    case .blob: "hexadecimal digits"
    case .timestamp: "milliseconds since 1970"
    case .boolean: "0, 1, true or false"
    case let type: type.rawValue
    }
  }
}
