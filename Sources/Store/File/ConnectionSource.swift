// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerryRecords
package import SkerrySQLiteKit
import SkerryTables

/// What queries read from: one snapshot on one connection that has the query views.
package final class ConnectionSource: QuerySource {
  let connection: SQLiteConnection
  let catalog: Catalog
  /// The tables that were read, by the database's own account.
  package private(set) var tables: Set<String> = []
  private var first = Hasher()
  private var second = Hasher()
  private let isObserved: Bool

  /// - Parameter isObserved: whether somebody will ask for the fingerprint: only then is it taken.
  package init(_ connection: SQLiteConnection, _ catalog: Catalog, isObserved: Bool = false) {
    self.connection = connection
    self.catalog = catalog
    self.isObserved = isObserved
    second.combine(0x5EC0)
  }

  /// Runs one SELECT.
  ///
  /// - Throws: `StoreError` with code `notReadOnly` for a statement that could change the file, `invalid` for a value that no
  ///   column holds; an error of the database.
  package func rows(_ sql: SQL) throws -> [Row] {
    if let fault = sql.fault { throw StoreError(.invalid, "a value in a query: \(fault)") }
    let statement = try connection.statement(sql.text)
    guard statement.isReadOnly else {
      throw StoreError(.notReadOnly, "the statement could change the file; change rows in write")
    }
    tables.formUnion(statement.tablesRead)
    let columns = statement.columnNames
    let names = ColumnNames(columns)
    return try statement.query(sql.values.map(\.sqlite)) { row in
      let values = row.modelValues(columns.indices)
      note(values)
      return Row(names, values)
    }
  }

  /// Stands for a table that changes whenever the replica is as the server was.
  package static let consistentPoints = "skerry consistent points"

  /// Something else that the answer depends on, and the table that stands for it.
  func note(_ values: [Value], under table: String) {
    tables.insert(table)
    note(values)
  }

  private func note(_ values: [Value]) {
    guard isObserved else { return }
    first.combine(values)
    second.combine(values)
  }

  /// Differs when what was read differs: two hashes of 64 bits over all values, in this process.
  package var fingerprint: AnswerFingerprint { AnswerFingerprint(first: first.finalize(), second: second.finalize()) }
}

extension Store {
  /// What a query reads now; rows that cannot be made into an element are left out.
  package func read<Element>(_ query: Query<Element>) throws -> [Element] { try answer(query).elements }

  /// What a query reads on the writer's connection, with the changes of the open transaction.
  func answer<Element>(_ query: Query<Element>) throws -> Answer<Element> {
    // Most processes never ask here. A transaction that is rolled back takes its views along.
    if try connection.first("SELECT 1 FROM temp.sqlite_schema LIMIT 1", row: { _ in true }) == nil {
      try QueryViews.create(catalog, on: connection)
    }
    return try query.read(ConnectionSource(connection, catalog))
  }
}

/// Tells two answers of a query apart.
package struct AnswerFingerprint: Equatable, Sendable {
  let first: Int
  let second: Int
}
