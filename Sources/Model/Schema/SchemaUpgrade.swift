// SPDX-License-Identifier: Apache-2.0

/// What leads from one version of a schema to a later one: which table and column of the old one each of the new one is.
///
/// Tables and columns may be added, renamed and removed as declared; nothing else that an old row or an old mutation is made of
/// may change. Versions between the two need not be known.
package struct SchemaUpgrade: Sendable {
  /// A table of both versions.
  package struct Table: Sendable {
    package let old: TableDefinition
    package let new: TableDefinition
    /// For each column of the new version its place in the old one; nil for one that was added.
    package let sources: [Int?]

    /// Whether rows hash to something else than before: names and values of columns are part of it.
    package var changesHashes: Bool {
      old.name != new.name || old.columns.contains { name(of: $0.name) != $0.name }
        || zip(sources, new.columns).contains { $0 == nil && !$1.initialValue.isNull }
    }

    /// What an insert of before lacks by now.
    fileprivate var defaults: [Field] {
      zip(sources, new.columns).compactMap { source, column in
        source == nil ? column.defaultValue.map { Field(column.name, $0) } : nil
      }
    }

    /// The columns that have another name by now.
    package var renamedColumns: [(old: String, new: String)] {
      zip(sources, new.columns).compactMap { source, column in
        source.map { (old: old.columns[$0].name, new: column.name) }
      }.filter { $0.old != $0.new }
    }

    /// What an insert of before left out because it was null, and would have a value by now.
    fileprivate func nulls(besides given: [Field]) -> [Field] {
      zip(sources, new.columns).compactMap { source, column in
        guard let source, column.defaultValue != nil, old.columns[source].initialValue.isNull,
          !given.contains(where: { $0.column == old.columns[source].name })
        else { return nil }
        return Field(column.name, .null)
      }
    }

    /// The new name of an old column; nil if it was removed.
    package func name(of column: String) -> String? {
      guard let place = old.columns.firstIndex(where: { $0.name == column }) else { return nil }
      return sources.firstIndex(of: place).map { new.columns[$0].name }
    }

    /// Whether its rows are in the same spaces under the same name.
    fileprivate var keepsSpaces: Bool {
      let rules = old.spaces.map { rule in
        switch rule {
        case .owner(let column, let kind): SpaceRule.owner(column: name(of: column) ?? "", kind: kind)
        case .named(let column): SpaceRule.named(column: name(of: column) ?? "")
        case .constant: rule
        case .parent(let column, let table): SpaceRule.parent(column: name(of: column) ?? "", table: table)
        }
      }
      return old.name == new.name && Set(rules) == Set(new.spaces)
    }

    /// The values of a new row in the order of the old columns: those that are gone are as in a row without a value.
    package func oldValues(_ values: [Value]) -> [Value] {
      old.columns.indices.map { column in
        let value = sources.firstIndex(of: column).map { values[$0] } ?? .null
        // Null is also what an earlier version cannot have had; it has its own first value then, if there is one.
        let mayBeNull = old.columns[column].isOptional && sources.contains(column)
        return value.isNull && !mayBeNull ? old.columns[column].initialValue : value
      }
    }

    /// A column that is gone and without which the old version has no rows; nil if there is none.
    package var missed: String? {
      old.columns.first { name(of: $0.name) == nil && !$0.isOptional && $0.initialValue.isNull }?.name
    }

    /// The values of an old row in the order of the new columns: added ones have their default, otherwise null, a counter 0.
    package func values(_ values: [Value]) -> [Value] {
      zip(sources, new.columns).map { source, column in source.map { values[$0] } ?? column.initialValue }
    }
  }

  /// Synced tables of both versions.
  package let tables: [Table]
  /// Tables that are on the device only, of both versions.
  package let localTables: [Table]
  /// The old names of tables that the new version has not.
  package let removed: [String]
  /// Whether every row is in the same spaces under both versions, its users are the same, and no table has another name: then
  /// a log made under the old version is one of the new version too.
  package let keepsLog: Bool

  /// - Throws: `SchemaError` with table, column, reason and remedy if there is no way that keeps what was written.
  package init(from old: Schema, to new: Schema) throws(SchemaError) {
    if old.name != new.name || old.version > new.version {
      throw SchemaError(
        "\(new.name) \(new.version) is no later version of \(old.name) \(old.version)", "open it with the newer app")
    }
    let names = new.removed
    tables = try Self.tables(from: old.features.flatMap(\.tables), to: new.features.flatMap(\.tables), names)
    localTables = try Self.tables(from: old.local, to: new.local, names)
    removed = (old.features.flatMap(\.tables) + old.local).map(\.name).filter { names.contains($0) }
    keepsLog = Self.keepsLog(from: old, to: new, tables)
    try checkReferences()
  }

  /// A column goes on to refer to the table that it referred to.
  private func checkReferences() throws(SchemaError) {
    for table in tables {
      for (source, column) in zip(table.sources, table.new.columns) {
        guard let before = source.flatMap({ table.old.columns[$0].reference?.table }) else { continue }
        let name = self.table(before)?.new.name ?? before
        if column.reference?.table != name {
          throw SchemaError(
            table.new.name, column.name, "it referred to '\(before)'", "declare a new column, and remove this one")
        }
      }
    }
  }

  private static func keepsLog(from old: Schema, to new: Schema, _ tables: [Table]) -> Bool {
    func name(_ column: String, of table: String) -> String? {
      tables.first { $0.old.name == table }?.name(of: column)
    }
    let spaces = old.spaces.map { space in
      guard case .table(let table, let id, let user) = space.members else { return space }
      let members = MembersDefinition.table(
        table, space: name(id, of: table) ?? "", user: name(user, of: table) ?? "")
      return SpaceDefinition(space.kind, root: space.root, members: members)
    }
    guard Set(spaces) == Set(new.spaces), tables.count == old.features.flatMap(\.tables).count else { return false }
    return tables.allSatisfy { $0.keepsSpaces }
  }

  /// The table that bore the old name; nil if it was removed.
  package func table(_ name: String) -> Table? { tables.first { $0.old.name == name } }

  private static func tables(
    from old: [TableDefinition], to new: [TableDefinition], _ removed: [String]
  ) throws(SchemaError) -> [Table] {
    var out: [Table] = []
    for table in new {
      guard let before = old.first(where: { $0.name == table.name || table.formerNames.contains($0.name) }) else {
        continue
      }
      out.append(try self.table(from: before, to: table))
    }
    for table in old where !removed.contains(table.name) && !out.contains(where: { $0.old.name == table.name }) {
      throw SchemaError(
        table.name, "an earlier version has this table, and this one does not say what became of it",
        "declare it, name it under what the new table was called, or under the removed tables")
    }
    return out
  }

  private static func table(from old: TableDefinition, to new: TableDefinition) throws(SchemaError) -> Table {
    // A column that is there under its former name is that one, even if another bears the name today.
    let renamed = new.columns.map { column in
      old.columns.contains { $0.name == column.name } && !claims(column.name, other: column, new, old)
        ? old.columns.firstIndex { $0.name == column.name }
        : old.columns.firstIndex { column.formerNames.contains($0.name) }
    }
    for (column, source) in zip(new.columns, renamed) {
      if let source { try check(column, from: old.columns[source], new.name) } else { try checkAdded(column, new.name) }
    }
    for (place, column) in old.columns.enumerated() where !renamed.contains(place) && !new.removed.contains(column.name)
    {
      throw SchemaError(
        new.name, column.name, "an earlier version has this column, and this one does not say what became of it",
        "declare it, name it under what the new column was called, or under the table's removed columns")
    }
    let key = new.key.map { name in
      new.columns.firstIndex { $0.name == name }.flatMap { renamed[$0] }.map { old.columns[$0].name } ?? ""
    }
    if key != old.key {
      throw SchemaError(
        new.name, "its key was (\(old.key.joined(separator: ", ")))", "declare a new table for another key")
    }
    return Table(old: old, new: new, sources: renamed)
  }

  /// Whether another column was called so, and the old version has it under no later name.
  private static func claims(
    _ name: String, other than: ColumnDefinition, _ new: TableDefinition, _ old: TableDefinition
  ) -> Bool {
    new.columns.contains { column in
      column.name != than.name && column.formerNames.contains(name)
        && !old.columns.contains { $0.name == column.name }
    }
  }

  private static func check(
    _ column: ColumnDefinition, from old: ColumnDefinition, _ table: String
  ) throws(SchemaError) {
    func fault(_ reason: String) -> SchemaError {
      SchemaError(table, column.name, reason, "declare a new column, and remove this one")
    }
    if column.type != old.type { throw fault("its type was \(old.type.rawValue)") }
    if column.rule != old.rule { throw fault("its rule was \(old.rule.rawValue)") }
    if old.isOptional, !column.isOptional { throw fault("it could be null, and rows may have null in it") }
    if column.reference?.onDelete != old.reference?.onDelete { throw fault("what it refers to is declared otherwise") }
  }

  /// Rows that are there have no value for it.
  private static func checkAdded(_ column: ColumnDefinition, _ table: String) throws(SchemaError) {
    if column.isOptional || column.defaultValue != nil || column.rule == .counter { return }
    throw SchemaError(
      table, column.name, "it was added, and rows of before have no value for it",
      "make it optional, or give it a default")
  }
}

extension ColumnDefinition {
  /// What a row has that was there before the column.
  package var initialValue: Value { rule == .counter ? 0 : defaultValue ?? .null }
}

extension SchemaUpgrade {
  /// A mutation's operations as the new version says them. What concerns removed tables and columns is left out; if that leaves
  /// nothing of an operation, it goes.
  package func operations(_ operations: [Operation]) -> [Operation] {
    var out: [Operation] = []
    for (place, operation) in operations.placed {
      guard var left = self.operation(operation) else { continue }
      left.place = place == out.count ? nil : UInt16(truncatingIfNeeded: place)
      out.append(left)
    }
    return out
  }

  private func operation(_ operation: Operation) -> Operation? {
    guard let table = table(operation.key.table) else { return nil }
    func fields(_ fields: [Field]) -> [Field] {
      fields.compactMap { field in table.name(of: field.column).map { Field($0, field.value) } }
    }
    let key = self.key(operation.key, in: table)
    switch operation.action {
    case .insert(let given):
      let all = (fields(given) + table.defaults + table.nulls(besides: given)).sorted { $0.column < $1.column }
      return Operation(key, nil, .insert(all))
    case .set(let given, let base):
      let left = fields(given).sorted { $0.column < $1.column }
      return left.isEmpty ? nil : Operation(key, operation.incarnation, .set(left, base: base))
    case .increment(let column, let amount):
      return table.name(of: column).map { Operation(key, operation.incarnation, .increment($0, by: amount)) }
    case .delete: return Operation(key, operation.incarnation, .delete)
    }
  }

  /// The key as the new version says it.
  package func key(_ key: RowKey, in table: Table) -> RowKey {
    table.old.name == table.new.name ? key : RowKey(table.new.name, values: key.values)
  }
}
