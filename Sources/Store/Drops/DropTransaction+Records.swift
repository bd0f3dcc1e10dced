// SPDX-License-Identifier: Apache-2.0

import SkerryModel
public import SkerryRecords

extension DropTransaction {
  /// Adds a record.
  ///
  /// - Returns: the record.
  /// - Throws: `StoreError` with code `invalid` if a value does not fit the schema or a limit.
  @discardableResult
  public mutating func insert<R: Record>(_ record: R) throws -> R {
    let values = try R.columns(of: record)
    try append(to: R.table.name) { catalog, table throws(OperationError) in
      try catalog.insertion(of: values, into: table)
    }
    return record
  }

  /// Gives a property a new value.
  ///
  /// - Throws: `StoreError` with code `invalid`.
  public mutating func set<R: Record, V: ColumnValue>(
    _ property: KeyPath<R, V>, of id: RowID<R>, to value: V
  ) throws {
    let content: Value
    do throws(ColumnFault) { content = try value.columnValue } catch {
      throw StoreError(.invalid, "\(R.table.name): \(error)")
    }
    let fields = [Field(try name(of: property), content)]
    try change(try R.key([id]), .set(fields, base: nil))
  }

  /// Adds a number to a counter.
  ///
  /// - Throws: `StoreError` with code `invalid` if the property's column is no counter.
  public mutating func increment<R: Record, N: FixedWidthInteger & ColumnValue>(
    _ counter: KeyPath<R, N>, of id: RowID<R>, by amount: Int64 = 1
  ) throws {
    if amount == 0 { return }
    try change(try R.key([id]), .increment(try name(of: counter), by: amount))
  }

  /// Removes a record; what refers to it goes as the schema says when the drop is collected.
  ///
  /// - Throws: `StoreError` with code `invalid`.
  public mutating func delete<R: Record>(_ id: RowID<R>) throws {
    try change(try R.key([id]), .delete)
  }

  private func name<R: Record, V>(of property: KeyPath<R, V>) throws -> String {
    guard let name = R.table.name(of: property) else {
      throw StoreError(.invalid, "a property of \(R.self) is changed that has no column; declare a Column for it")
    }
    return name
  }
}
