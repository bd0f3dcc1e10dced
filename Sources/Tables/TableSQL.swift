// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// The parts of SQL that a table's declaration gives; names are checked by the schema and quoted all the same.
package struct TableSQL: Sendable {
  package let table: TableInfo

  package init(_ table: TableInfo) { self.table = table }

  package static func quoted(_ name: String) -> String { "\"\(name)\"" }

  package var name: String { TableSQL.quoted(table.name) }

  /// All columns, separated by commas.
  package var columns: String { table.columns.map { TableSQL.quoted($0.name) }.joined(separator: ", ") }

  /// The key columns, separated by commas.
  package var keyColumns: String { table.definition.key.map(TableSQL.quoted).joined(separator: ", ") }

  /// `"id" = ?`, for each key column.
  package var keyCondition: String {
    table.definition.key.map { TableSQL.quoted($0) + " = ?" }.joined(separator: " AND ")
  }

  /// The declarations of the columns. The database enforces the storage class and nothing else that a page could break.
  package func columnDeclarations(enforceNull: Bool) -> [String] {
    table.columns.map { column in
      let isKey = table.definition.key.contains(column.name)
      let notNull = isKey || enforceNull && !column.isOptional ? " NOT NULL" : ""
      // BINARY is SQLite's default, and said here because ids, owners and spaces depend on it.
      let collation = column.storageClass == "TEXT" ? " COLLATE BINARY" : ""
      let counter = enforceNull && column.rule == .counter ? " DEFAULT 0" : ""
      return TableSQL.quoted(column.name) + " " + column.storageClass + notNull + counter + collation
    }
  }

  package var primaryKey: String { "PRIMARY KEY (\(keyColumns))" }
}

extension ColumnDefinition {
  /// The storage class in SQLite.
  package var storageClass: String {
    switch type {
    case .text, .json, .decimal, .date, .uuid: "TEXT"
    case .integer, .boolean, .timestamp: "INTEGER"
    case .real: "REAL"
    case .blob: "BLOB"
    }
  }
}

/// As many placeholders, separated by commas.
package func placeholders(_ count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ", ") }
