// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// A row as a history tells it.
struct HistoryRow: Equatable {
  var values: [Value]
  var version: HistoryTag
  var incarnation: HistoryTag
}

/// An operation as a history tells it.
struct HistoryOperation {
  enum Action {
    case insert, set, add, delete
  }

  let action: Action
  let key: Int
  /// Not of an insert.
  let incarnation: HistoryTag?
  /// What an edit of a checked table is based on.
  let base: HistoryTag?
  /// Values by the column's place; all of an insert, the one number of an addition.
  let values: [(column: Int, value: Value)]
}

/// The rows of a database by the places of their keys, and the text by which they are compared with what SQLite says.
struct HistoryRows {
  private(set) var rows: [HistoryRow?]
  private var lines: [String?]
  private var text: String?

  init(count: Int) {
    rows = Array(repeating: nil, count: count)
    lines = Array(repeating: nil, count: count)
  }

  subscript(key: Int) -> HistoryRow? {
    get { rows[key] }
    set {
      rows[key] = newValue
      lines[key] = nil
      text = nil
    }
  }

  /// One operation of a mutation; one that does not fit is passed over, as on a screen.
  mutating func fold(_ operation: HistoryOperation, _ mutation: Int, _ index: Int) {
    guard var row = rows[operation.key] else {
      if operation.action == .insert {
        self[operation.key] = HistoryRow(
          values: operation.values.map(\.value), version: .mutation(mutation), incarnation: .insert(mutation, index))
      }
      return
    }
    guard row.incarnation == operation.incarnation, operation.base == nil || operation.base == row.version else {
      return
    }
    row.version = .mutation(mutation)
    switch operation.action {
    case .insert: return
    case .delete:
      self[operation.key] = nil
      return
    case .set: for (column, value) in operation.values { row.values[column] = value }
    case .add:
      let sum = operation.values.reduce(row.values[HistoryTable.counter].integer ?? 0) { $0 + ($1.value.integer ?? 0) }
      row.values[HistoryTable.counter] = .integer(sum)
    }
    self[operation.key] = row
  }

  mutating func fold(_ operations: [HistoryOperation], _ mutation: Int) {
    for (index, operation) in operations.enumerated() { fold(operation, mutation, index) }
  }

  /// A line a row, as `HistoryImage` lets SQLite write them.
  mutating func image(_ names: HistoryNames) -> String {
    if let text { return text }
    var out = ""
    for (key, row) in rows.enumerated() {
      guard let row else { continue }
      let line = lines[key] ?? HistoryRows.line(key, row, names)
      lines[key] = line
      out += line
    }
    text = out
    return out
  }

  private static func line(_ key: Int, _ row: HistoryRow, _ names: HistoryNames) -> String {
    var out = HistoryTable.all[names.tables[key]].name + "/" + names.ids[key]
    for value in row.values {
      switch value {
      case .text(let text): out += " '" + text + "'"
      case .integer(let number): out += " " + String(number)
      default: out += " NULL"
      }
    }
    return out + " " + names.hex(version: row.version, of: key) + " "
      + names.hex(incarnation: row.incarnation, of: key) + "\n"
  }
}
