// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// The parts of SQL that a table's declaration gives; names are checked by the schema and quoted all the same.
package struct TableSQL: Sendable {
  package let table: TableInfo

  package init(_ table: TableInfo) { self.table = table }

  package static func quoted(_ name: String) -> String { "\"\(name)\"" }

  package var name: String { TableSQL.quoted(table.name) }

  /// The table itself, where a view of the same name is in front of it.
  package var mainName: String { "main." + name }

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
      let first: Value? = column.rule == .counter ? 0 : column.defaultValue
      let standard = enforceNull ? first.map { " DEFAULT \(TableSQL.literal($0))" } ?? "" : ""
      return TableSQL.quoted(column.name) + " " + column.storageClass + notNull + standard + collation
    }
  }

  package var primaryKey: String { "PRIMARY KEY (\(keyColumns))" }

  /// A value as SQL writes it.
  package static func literal(_ value: Value) -> String { KeyText.text([value]) }

  /// A plain index for each one that is declared; what is unique is checked otherwise (see `isTaken`).
  package var indexes: [String] { table.definition.indexes.map { index($0.columns) } }

  /// An index over these columns, under a name that says so.
  package func index(_ columns: [String]) -> String {
    let list = columns.map(TableSQL.quoted).joined(separator: ", ")
    return "CREATE INDEX IF NOT EXISTS \(TableSQL.quoted(indexName(columns))) ON \(name)(\(list))"
  }

  /// The name of the index over these columns.
  package func indexName(_ columns: [String]) -> String {
    "skerry_index_\(table.name)(\(columns.joined(separator: ",")))"
  }

  /// What a breach of a unique index is called.
  package func breach(of index: IndexDefinition) -> String {
    "\(table.name)(\(index.columns.joined(separator: ", "))): another row has these values"
  }
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
