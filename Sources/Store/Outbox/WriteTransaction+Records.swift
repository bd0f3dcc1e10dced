// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
public import SkerryRecords

/// Changing rows as records.
extension WriteTransaction {
  /// Adds a record.
  ///
  /// - Returns: the record.
  /// - Throws: `StoreError`: `invalid` if a value does not fit the schema or a limit, `exists` if its key is taken, `constraint` if
  ///   another row here has the values of a unique index.
  @discardableResult
  public mutating func insert<R: Record>(_ record: R) throws -> R {
    let info = try store.table(of: R.self)
    try insert(operation(record, R.table, info), into: info)
    return record
  }

  /// Adds records, each as `insert(_:)` does. Up to `Limits.operations` fit into one write.
  public mutating func insert<R: Record>(contentsOf records: some Sequence<R>) throws {
    let info = try store.table(of: R.self)
    let table = R.table
    for record in records { try insert(operation(record, table, info), into: info) }
  }

  private func operation<R: Record>(_ record: R, _ table: TableSchema<R>, _ info: TableInfo) throws -> Operation {
    do throws(OperationError) {
      return try store.catalog.insertion(of: try table.values(of: record), into: info)
    } catch { throw StoreError(.invalid, error.description) }
  }

  /// Changes a record. Only the properties that the closure gives another value are recorded and travel; if there are none,
  /// nothing happens. A change of a counter is recorded as the difference, so that it adds up with others'.
  ///
  /// - Throws: `StoreError`: `notFound` if there is no such row, `invalid`, `constraint`; `DecodingError` if the row is no such
  ///   record; what the closure throws, and then nothing is changed.
  public mutating func update<R: Record>(_ id: RowID<R>, _ change: (inout R) throws -> Void) throws {
    try update(R.self, key: id, change: change)
  }

  /// Changes a record by the values of its key columns, as `update(_:_:)` does.
  public mutating func update<R: Record>(
    _ type: R.Type, key: any ColumnValue..., change: (inout R) throws -> Void
  ) throws {
    let info = try store.table(of: R.self)
    let key = try R.key(key)
    guard let values = try values(of: key, info) else { throw StoreError(.notFound, "\(key) is not here") }
    let before = try R(row: values)
    var after = before
    try change(&after)
    try record(try R.columns(of: before), try R.columns(of: after), key, info)
  }

  private mutating func record(_ before: [Value], _ after: [Value], _ key: RowKey, _ info: TableInfo) throws {
    var fields: [Field] = []
    for (index, column) in info.columns.enumerated() where before[index] != after[index] {
      guard column.rule == .counter else {
        fields.append(Field(column.name, after[index]))
        continue
      }
      guard case .integer(let old) = before[index], case .integer(let new) = after[index] else { continue }
      let difference = new.subtractingReportingOverflow(old)
      if difference.overflow {
        throw StoreError(.overflow, "\(info.name).\(column.name): the counter moves by more than 64 bits")
      }
      try increment(key, column.name, by: difference.partialValue)
    }
    if fields.isEmpty { return }
    if info.isLocal { return try setLocally(fields, key, info) }
    try set(fields, key, info, try existing(key))
  }

  /// Adds a number to a counter. Increments from several devices add up.
  ///
  /// - Throws: `StoreError`: `notFound`, `overflow`, or `invalid` if the property's column is no counter.
  public mutating func increment<R: Record, N: FixedWidthInteger & ColumnValue>(
    _ counter: KeyPath<R, N>, of id: RowID<R>, by amount: Int64 = 1
  ) throws {
    let info = try store.table(of: R.self)
    guard let name = R.table.name(of: counter) else {
      throw StoreError(.invalid, "a property of \(R.self) is incremented that has no column; declare a Column for it")
    }
    try increment(RowKey(info.name, .text(id.text)), name, by: amount)
  }

  /// Removes a record, and what refers to it as the schema says: rows go along or lose their reference, as operations of this
  /// write. What others have added meanwhile is the server's to remove.
  ///
  /// - Throws: `StoreError` with code `notFound` if there is no such row. The whole write ends with `constraint` if a row
  ///   is left that refers to it and must not.
  public mutating func delete<R: Record>(_ id: RowID<R>) throws { try delete(R.self, key: id) }

  /// Removes a record by the values of its key columns, as `delete(_:)` does.
  public mutating func delete<R: Record>(_ type: R.Type, key: any ColumnValue...) throws {
    _ = try store.table(of: R.self)
    try delete(try R.key(key))
  }

  /// A record as it is now, this transaction's own changes included; nil if there is none.
  ///
  /// - Throws: `DecodingError` if the row is no such record.
  public func find<R: Record>(_ id: RowID<R>) throws -> R? { try find(R.self, key: id) }

  /// A record by the values of its key columns, as `find(_:)` gives it.
  public func find<R: Record>(_ type: R.Type, key: any ColumnValue...) throws -> R? {
    try values(of: try R.key(key), try store.table(of: R.self)).map { try R(row: $0) }
  }

  /// What a query reads now, this transaction's own changes included.
  ///
  /// - Throws: `StoreError` with code `notReadOnly`; `StoreError` with code `invalid` if a row cannot be made into an element; an
  ///   error of the database.
  public func read<T>(_ query: Query<T>) throws -> [T] {
    let answer = try store.answer(query)
    if let fault = answer.faults.first { throw StoreError(.invalid, "a row cannot be read: \(fault)") }
    return answer.elements
  }
}

extension Record {
  /// A key by the values of its columns.
  package static func key(_ parts: [any ColumnValue]) throws -> RowKey {
    do throws(ColumnFault) {
      var values: [Value] = []
      for part in parts { values.append(try part.columnValue) }
      return RowKey(table.name, values: values)
    } catch { throw StoreError(.invalid, "a key of \(table.name): \(error)") }
  }

  static func columns(of record: Self) throws -> [Value] {
    do throws(OperationError) { return try table.values(of: record) } catch {
      throw StoreError(.invalid, error.description)
    }
  }
}

extension Store {
  /// The table of a record, if the store's schema declares it as the record does.
  ///
  /// - Throws: `StoreError` with code `invalid`.
  package func table<R: Record>(of type: R.Type) throws -> TableInfo {
    let id = ObjectIdentifier(type)
    if let known = recordTables[id] { return known }
    let definition = type.table.definition
    guard let info = catalog.table(definition.name) ?? catalog.localTable(definition.name) else {
      throw StoreError(
        .invalid, "the schema has no table '\(definition.name)', in which \(type) is; put its table into a feature")
    }
    if info.definition != definition {
      throw StoreError(
        .invalid,
        "the schema declares '\(definition.name)' otherwise than \(type) does; open the replica with the records' own schema"
      )
    }
    recordTables[id] = info
    return info
  }
}
