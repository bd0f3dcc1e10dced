// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables

extension SQLiteTransaction: AppRows {
  func row(_ key: RowKey) throws -> RowState? {
    let table = try table(key.table)
    let count = table.columns.count
    return try connection.statement(StatementName("row", table.number)) {
      let sql = TableSQL(table)
      // The app's columns are read in a scope of their own: they may be called like the header's.
      return """
        SELECT app.*, h.tag, h.inc, h.idx FROM (SELECT \(sql.columns) FROM \(sql.name) WHERE \(sql.keyCondition)) AS app
        JOIN skerry_rows AS h ON h.tbl = ? AND h.key = ?
        """
    }.first(key.bindings + [key.tableName, key.text]) { row in
      guard let version = VersionTag(bytes: row.blob(count)), let tag = VersionTag(bytes: row.blob(count + 1)) else {
        throw StorageError.damaged("header of \(key)")
      }
      let incarnation = Incarnation(tag: tag, index: UInt16(truncatingIfNeeded: row.integer(count + 2)))
      let values = table.columns.indices.map { row.value($0, as: table.columns[$0]) }
      return RowState(values: values, version: version, incarnation: incarnation)
    }
  }

  func write(_ key: RowKey, from old: RowState?, to new: RowState?, by writer: Writer) throws {
    let table = try table(key.table)
    try SQLiteStorage.translating {
      try connection.run("DELETE FROM skerry_writer")
      try connection.run(
        "INSERT INTO skerry_writer(tag, idx) VALUES (?, ?)", .blob(writer.mutation.tag.raw.bytes),
        .integer(Int64(writer.index)))
      try store(key, TableSQL(table), old, new)
      try connection.run("DELETE FROM skerry_writer")
    }
    // A mutation that sets what is there already changes no column, so no trigger fires; its version counts all the same,
    // since its writer will name it as what they saw.
    if let old, let new, old.values == new.values, old.version != new.version { try touch(key, writer) }
  }

  private func store(_ key: RowKey, _ sql: TableSQL, _ old: RowState?, _ new: RowState?) throws {
    switch (old, new) {
    case (nil, nil): break
    case (nil, let new?):
      try connection.statement(StatementName("insert", sql.table.number)) {
        "INSERT INTO \(sql.name)(\(sql.columns)) VALUES (\(placeholders(sql.table.columns.count)))"
      }.run(new.values.map(\.sqlite))
    case (_?, nil):
      try connection.statement("DELETE FROM \(sql.name) WHERE \(sql.keyCondition)").run(key.bindings)
    case (let old?, let new?):
      let changed = new.values.indices.filter { old.values[$0] != new.values[$0] }
      if changed.isEmpty { return }
      let sets = changed.map { TableSQL.quoted(sql.table.columns[$0].name) + " = ?" }.joined(separator: ", ")
      try connection.statement("UPDATE \(sql.name) SET \(sets) WHERE \(sql.keyCondition)")
        .run(changed.map { new.values[$0].sqlite } + key.bindings)
    }
  }

  private func touch(_ key: RowKey, _ writer: Writer) throws {
    let tag = SQLiteValue.blob(writer.mutation.tag.raw.bytes)
    try connection.run(
      "INSERT INTO skerry_captures(tbl, key, op, tag) VALUES (?, ?, 1, ?)", key.tableName, key.text, tag)
    try connection.run(
      "UPDATE skerry_rows SET n = ?, tag = ? WHERE tbl = ? AND key = ?", .integer(connection.lastInsertedRow), tag,
      key.tableName, key.text)
  }

  func children(of key: RowKey) throws -> [RowKey] {
    guard key.values.count == 1, let parent = key.values.first else { return [] }
    return try (catalog.children[key.table] ?? []).flatMap { child in
      let sql = TableSQL(child.table)
      let column = TableSQL.quoted(child.table.columns[child.column].name)
      let count = child.table.keyColumns.count
      return try connection.query(
        "SELECT \(sql.keyColumns) FROM \(sql.name) WHERE \(column) = ? ORDER BY \(sql.keyColumns)", parent.sqlite
      ) { RowKey(child.table.name, values: $0.modelValues(0..<count)) }
    }
  }

  func isMember(_ user: AccountID, of space: SpaceID) throws -> Bool {
    guard case .table(let name, let spaceColumn, let userColumn) = catalog.spaceKinds[String(space.kind)]?.members
    else { return false }
    let sql = try TableSQL(table(name))
    return try connection.first(
      """
      SELECT 1 FROM \(sql.name) WHERE \(TableSQL.quoted(userColumn)) = ? AND \(TableSQL.quoted(spaceColumn)) = ? LIMIT 1
      """, .text(user.text), .text(String(space.id))
    ) { _ in true } ?? false
  }

  func isUsed(_ space: SpaceID) throws -> Bool {
    for table in catalog.tables {
      for rule in table.spaces {
        let wanted: String
        switch rule {
        case .owner(_, let kind) where kind.utf8.elementsEqual(space.kind.utf8): wanted = String(space.id)
        case .named: wanted = space.text
        case .constant(space): wanted = ""
        default: continue
        }
        let condition = rule.column.map { "\(TableSQL.quoted($0)) = ?" } ?? "'' = ?"
        let isThere = try connection.first(
          "SELECT 1 FROM \(TableSQL(table).name) WHERE \(condition) LIMIT 1", .text(wanted)
        ) { _ in true }
        if isThere == true { return true }
      }
    }
    return false
  }
}

extension SQLiteRow {
  /// The column's value in the class that the schema declares, converted by SQLite's own rules: a table that was there before
  /// Skerry may hold any class in any column, and one such value must not make pages unreadable.
  fileprivate func value(_ index: Int, as column: ColumnDefinition) -> Value {
    if isNull(index) { return .null }
    switch column.storageClass {
    case "INTEGER": return .integer(integer(index))
    case "REAL":
      let number = real(index)
      return .real(
        number.isFinite ? (number == 0 ? 0 : number) : number > 0 ? .greatestFiniteMagnitude : -.greatestFiniteMagnitude
      )
    case "BLOB": return .blob(blob(index))
    default:
      let text = text(index)
      return .text(text.utf8.contains(0) ? String(text.unicodeScalars.filter { $0.value != 0 }) : text)
    }
  }
}
