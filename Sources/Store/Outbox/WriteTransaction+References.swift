// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryTables

/// What the server's constraints will say, predicted from the rows that are here; the server decides.
extension WriteTransaction {
  /// Rows that refer to one that goes: they go first, or lose their reference, as the schema says.
  mutating func release(_ key: RowKey) throws {
    for (table, column, action) in store.catalog.referrers[key.table] ?? [] where action != .restrict {
      for referrer in try referrers(to: key, in: table, column) where !leaving.contains(referrer) {
        // A ring of references may have removed it meanwhile.
        guard try values(of: referrer, table) != nil else { continue }
        switch action {
        case .cascade: try delete(referrer)
        case .setNull: try update(referrer, [table.columns[column].name: .null])
        case .restrict: break
        }
      }
    }
  }

  /// - Throws: `StoreError` with code `constraint` if a row refers to one that has gone and must not.
  func checkFree(_ key: RowKey) throws {
    if try values(of: key, try table(key.table)) != nil { return }
    for (table, column, action) in store.catalog.referrers[key.table] ?? [] where action == .restrict {
      if try referrers(to: key, in: table, column, limit: 1).isEmpty { continue }
      throw StoreError(
        .constraint,
        "\(key) is deleted, and a row of \(table.name) refers to it by \(table.columns[column].name); "
          + "delete or change that one in the same write")
    }
  }

  private func referrers(to key: RowKey, in table: TableInfo, _ column: Int, limit: Int64 = -1) throws -> [RowKey] {
    try guarding { store, _ in
      let sql = TableSQL(table)
      return try store.connection.query(
        "SELECT \(sql.keyColumns) FROM \(sql.mainName) WHERE \(TableSQL.quoted(table.columns[column].name)) = ? LIMIT ?",
        key.values[0].sqlite, .integer(limit)
      ) { RowKey(table.name, values: $0.modelValues(0..<table.keyColumns.count)) }
    }
  }

  /// - Throws: `StoreError` with code `constraint` if another row has the values that a unique index wants for one.
  func checkUnique(_ operation: Operation, _ info: TableInfo) throws {
    for index in info.definition.indexes where index.isUnique {
      let columns = index.columns.compactMap(info.index(of:))
      guard operation.isInsert || operation.fields.contains(where: { index.columns.contains($0.column) }) else {
        continue
      }
      let row = try values(of: operation.key, info)
      let wanted = columns.map { column -> Value in
        let name = info.columns[column].name
        if let field = operation.fields.first(where: { $0.column == name }) { return field.value }
        if let place = info.definition.key.firstIndex(of: name) { return operation.key.values[place] }
        return row?[column] ?? .null
      }
      if wanted.contains(where: \.isNull) { continue }
      let sql = TableSQL(info)
      let condition = index.columns.map { TableSQL.quoted($0) + " = ?" }.joined(separator: " AND ")
      let found = try guarding { store, _ in
        try store.connection.statement("SELECT \(sql.keyColumns) FROM \(sql.mainName) WHERE \(condition) LIMIT 2")
          .query(
            wanted.map(\.sqlite)
          ) { RowKey(info.name, values: $0.modelValues(0..<info.keyColumns.count)) }
      }
      if found.contains(where: { $0 != operation.key }) { throw StoreError(.constraint, sql.breach(of: index)) }
    }
  }
}
