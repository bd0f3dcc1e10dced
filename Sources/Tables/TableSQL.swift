// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// The parts of SQL that a table's declaration gives; names are checked by the schema and quoted all the same.
package struct TableSQL: Sendable {
  package let table: TableInfo
  private let texts: Texts

  package init(_ table: TableInfo) {
    self.table = table
    texts = table.derived.value(Texts.self) { Texts(table) }
  }

  package static func quoted(_ name: String) -> String { "\"\(name)\"" }

  package var name: String { texts.name }

  /// All columns, separated by commas.
  package var columns: String { texts.columns }

  /// The key columns, separated by commas.
  package var keyColumns: String { texts.keyColumns }

  /// `"id" = ?`, for each key column.
  package var keyCondition: String { texts.keyCondition }

  /// The texts that statements for single rows are made of, put together once.
  private final class Texts: Sendable {
    let name: String
    let columns: String
    let keyColumns: String
    let keyCondition: String

    init(_ table: TableInfo) {
      name = TableSQL.quoted(table.name)
      columns = table.columns.map { TableSQL.quoted($0.name) }.joined(separator: ", ")
      keyColumns = table.definition.key.map(TableSQL.quoted).joined(separator: ", ")
      keyCondition = table.definition.key.map { TableSQL.quoted($0) + " = ?" }.joined(separator: " AND ")
    }
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
