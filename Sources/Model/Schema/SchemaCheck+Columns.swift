// SPDX-License-Identifier: Apache-2.0

/// Defaults, late binding, references, indexes, names of the past, and tables that are on the device only.
extension SchemaCheck {
  mutating func checkDefault(of column: ColumnDefinition, in table: TableDefinition) {
    guard let value = column.defaultValue else { return }
    func fault(_ reason: String, _ remedy: String) -> SchemaError {
      SchemaError(table.name, column.name, reason, remedy)
    }
    if value.isNull { return note(fault("its default is null", "leave the default out: that is null")) }
    if table.key.contains(column.name) {
      return note(fault("a key column has a default", "leave it out: each row names its key"))
    }
    switch column.rule {
    case .counter: note(fault("a counter has a default", "leave it out: counters begin at 0"))
    case .lateBound: note(fault("a late-bound column has a default", "declare a placeholder instead"))
    case .arrival:
      do throws(OperationError) { _ = try column.normalised(value, in: table.name) } catch {
        note(fault("its default does not fit: \(error.reason)", "give a \(column.type.rawValue)"))
      }
    }
  }

  mutating func checkLateBinding(of column: ColumnDefinition, in table: TableDefinition) {
    if column.rule != .lateBound {
      if column.placeholder != nil {
        note(SchemaError(table.name, column.name, "a placeholder for a column that is not late-bound", "leave it out"))
      }
      return
    }
    if !column.isOptional {
      note(SchemaError(table.name, column.name, "a late-bound column is not optional", "make it optional"))
    }
    if let text = column.placeholder, text.utf8.allSatisfy({ " \n\t".utf8.contains($0) }) {
      note(SchemaError(table.name, column.name, "its placeholder is empty", "write an SQL expression, or leave it out"))
    }
  }

  /// A reference holds the key of another table's row, so both are of one type.
  mutating func checkReference(_ column: ColumnDefinition, of table: TableDefinition) {
    guard let reference = column.reference else { return }
    func fault(_ reason: String, _ remedy: String) -> SchemaError {
      SchemaError(table.name, column.name, reason, remedy)
    }
    guard let target = tables.first(where: { $0.name == reference.table }) else {
      return note(fault("it refers to table '\(reference.table)', which is not declared", "declare it in a feature"))
    }
    let key = target.columns.first { $0.name == target.key.first }
    if target.key.count != 1 || key?.type != column.type {
      note(fault("it does not hold the key of '\(target.name)'", "use one column of the same type"))
    }
    if column.rule != .arrival {
      note(fault("a reference is a counter or late-bound", "give it the rule arrival"))
    }
    if reference.onDelete == .setNull, !column.isOptional || table.key.contains(column.name) {
      note(fault("it becomes null when the other row goes, and may not be null", "make it optional, or use cascade"))
    }
  }

  /// What a column or a table was called before is no name of today, and was one thing only.
  mutating func checkHistory() {
    let all = tables + schema.local
    let names = Set(all.map(\.name))
    for table in all {
      for name in table.formerNames where names.contains(name) {
        note(
          SchemaError(table.name, "it was called '\(name)', which is a table of today", "name tables of the past only"))
      }
      for name in table.removed where table.columns.contains(where: { $0.name == name }) {
        note(SchemaError(table.name, name, "a removed column is declared", "take it out of one of both"))
      }
      distinct(table.columns.flatMap(\.formerNames) + table.removed, "former column", table.name)
    }
    for name in schema.removed where names.contains(name) {
      note(SchemaError(name, "a removed table is declared", "take it out of one of both"))
    }
    distinct(all.flatMap(\.formerNames) + schema.removed, "former table", nil)
  }

  mutating func checkIndexes(of table: TableDefinition) {
    var seen: [[String]] = []
    for index in table.indexes {
      let columns = index.columns.joined(separator: ", ")
      if index.columns.isEmpty {
        note(SchemaError(table.name, "an index has no columns", "name the columns that queries look for"))
      }
      for name in index.columns where !table.columns.contains(where: { $0.name == name }) {
        note(SchemaError(table.name, name, "an index names a column that is not there", "declare the column"))
      }
      distinct(index.columns, "index column", table.name)
      if seen.contains(index.columns) {
        note(SchemaError(table.name, "index (\(columns)) is declared twice", "leave one out"))
      }
      seen.append(index.columns)
      for name in index.columns where index.isUnique {
        guard let column = table.columns.first(where: { $0.name == name }) else { continue }
        if column.rule == .counter || column.type == .real {
          note(
            SchemaError(table.name, name, "a unique index over a counter or real column", "leave the column out of it"))
        }
      }
    }
  }

  /// What is never sent has no use for what devices and servers agree on.
  mutating func checkLocal(_ table: TableDefinition) {
    checkShape(of: table)
    if !table.spaces.isEmpty {
      note(SchemaError(table.name, "a table on the device only has spaces", "leave them out, or move it to a feature"))
    }
    if table.detection != .none {
      note(SchemaError(table.name, "a table on the device only checks versions", "leave detection out"))
    }
    for column in table.columns {
      if column.rule != .arrival {
        note(SchemaError(table.name, column.name, "a rule on a table that is on the device only", "leave the rule out"))
      }
      if column.reference != nil {
        note(
          SchemaError(
            table.name, column.name, "a reference from a table that is on the device only",
            "leave it out; synced rows come and go without asking"))
      }
    }
  }
}
