// SPDX-License-Identifier: Apache-2.0

/// Why an operation does not fit the schema. It names table and column, never a value.
public struct OperationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table as the operation names it.
  public let table: String
  /// The column, if the fault is in one.
  public let column: String?
  /// What was expected, what was found, and what to do.
  public let reason: String

  package init(_ table: String, _ column: String, _ reason: String) {
    self.table = OperationError.cut(table)
    self.column = OperationError.cut(column)
    self.reason = reason
  }

  package init(_ table: String, _ reason: String) {
    self.table = OperationError.cut(table)
    column = nil
    self.reason = reason
  }

  /// Names that are no names of the schema come from outside, and are not repeated at any length.
  private static func cut(_ name: String) -> String { String(name.unicodeScalars.prefix(48)) }

  /// Place and reason in one line.
  public var description: String { table + (column.map { "." + $0 } ?? "") + ": " + reason }
}

extension Catalog {
  /// Holds an operation against the schema and the limits, and gives it in its normal form: fields in byte order of their
  /// columns, -0.0 as 0.0, an integer where a real is wanted as a real.
  ///
  /// Client and server call the same check, so that what the server would refuse is refused at the local write already.
  package func normalised(_ operation: Operation) throws(OperationError) -> Operation {
    guard let table = table(operation.key.table) else {
      throw OperationError(operation.key.table, "the schema has no such table")
    }
    return try normalised(operation, in: table)
  }

  /// The same for a table that is on the device only, whose rows have no incarnations.
  package func normalised(_ operation: Operation, in table: TableInfo) throws(OperationError) -> Operation {
    let key = try normalisedKey(operation.key.values, in: table)
    let isInsert = operation.isInsert
    if isInsert != (operation.incarnation == nil), !table.isLocal {
      throw OperationError(table.name, isInsert ? "an insert names no incarnation" : "the incarnation is missing")
    }
    switch operation.action {
    case .insert(let fields):
      let clean = try normalised(fields, in: table, key: key)
      return Operation(key, nil, .insert(try table.completed(clean)), place: operation.place)
    case .set(let fields, let base):
      if fields.isEmpty { throw OperationError(table.name, "a set needs a field") }
      let clean = try normalised(fields, in: table, key: nil)
      return Operation(key, operation.incarnation, .set(clean, base: base), place: operation.place)
    case .increment(let name, let amount):
      guard let index = table.index(of: name), table.columns[index].rule == .counter else {
        throw OperationError(table.name, name, "only a counter column can be incremented")
      }
      let action = Operation.Action.increment(table.columns[index].name, by: amount)
      return Operation(key, operation.incarnation, action, place: operation.place)
    case .delete:
      return Operation(key, operation.incarnation, .delete, place: operation.place)
    }
  }

  /// The insert of a whole row, given by all its values in the schema's order, in its normal form. What a column has anyway is
  /// left out: null, a counter's 0.
  package func insertion(of values: [Value], into table: TableInfo) throws(OperationError) -> Operation {
    let key = try normalisedKey(table.keyColumns.map { values[$0] }, in: table)
    var fields: [Field] = []
    var size = 0
    fields.reserveCapacity(values.count)
    for index in table.columnsByName {
      let column = table.checked[index]
      if column.isKey { continue }
      let value = try column.normalised(values[index], in: table.name)
      switch column.definition.rule {
      case .lateBound where !value.isNull:
        throw OperationError(
          table.name, column.definition.name, "the server alone gives the value; leave the property nil")
      case .lateBound: continue
      case .counter where value == 0: continue
      case .arrival where value.isNull && column.definition.defaultValue == nil: continue
      case .arrival, .counter: break
      }
      size += value.byteCount
      fields.append(Field(column.definition.name, value))
    }
    if size > Limits.rowBytes { throw OperationError(table.name, "the row takes more than \(Limits.rowBytes) bytes") }
    return Operation(key, nil, .insert(fields))
  }

  private func normalisedKey(_ values: [Value], in table: TableInfo) throws(OperationError) -> RowKey {
    guard values.count == table.keyColumns.count else {
      throw OperationError(table.name, "the key has \(table.keyColumns.count) columns, \(values.count) are given")
    }
    var out: [Value] = []
    for (index, value) in zip(table.keyColumns, values) {
      out.append(try table.checked[index].normalised(value, in: table.name))
    }
    let key = RowKey(table.name, values: out)
    if key.bytes.count > Limits.keyBytes {
      throw OperationError(table.name, "the key takes more than \(Limits.keyBytes) bytes")
    }
    return key
  }

  /// `key` is given for an insert, which may repeat the key columns with the same values; they are left out.
  private func normalised(_ fields: [Field], in table: TableInfo, key: RowKey?) throws(OperationError) -> [Field] {
    var out: [Field] = []
    var size = 0
    for field in fields {
      guard let index = table.index(of: field.column) else {
        throw OperationError(table.name, field.column, "the table has no such column")
      }
      let column = table.columns[index]
      let value = try table.checked[index].normalised(field.value, in: table.name)
      if let place = table.definition.key.firstIndex(of: column.name) {
        guard key?.values[place] == value else {
          throw OperationError(table.name, column.name, "a key column cannot be set; delete the row and insert another")
        }
        continue
      }
      if column.rule == .counter, key == nil {
        throw OperationError(table.name, column.name, "a counter is incremented, not set")
      }
      if column.rule == .lateBound {
        throw OperationError(table.name, column.name, "the server alone gives the value; leave the column out")
      }
      size += value.byteCount
      out.append(Field(column.name, value))
    }
    if size > Limits.rowBytes { throw OperationError(table.name, "the row takes more than \(Limits.rowBytes) bytes") }
    out.sort { $0.column < $1.column }
    for (left, right) in zip(out, out.dropFirst()) where left.column == right.column {
      throw OperationError(table.name, left.column, "the column is given twice")
    }
    return out
  }
}

extension TableInfo {
  /// An insert's fields with the defaults of columns that it does not name, in order.
  func completed(_ fields: [Field]) throws(OperationError) -> [Field] {
    var out = fields
    for index in neededColumns {
      let column = columns[index]
      if fields.contains(where: { $0.column == column.name }) { continue }
      guard let value = column.defaultValue else {
        throw OperationError(name, column.name, "a value is needed, none is given")
      }
      out.append(Field(column.name, value))
    }
    if out.count > fields.count { out.sort { $0.column < $1.column } }
    return out
  }
}

extension ColumnDefinition {
  /// The value in the form in which it is stored and hashed, or why the column cannot hold it.
  package func normalised(_ value: Value, in table: String) throws(OperationError) -> Value {
    func refuse(_ reason: String) -> OperationError { OperationError(table, name, reason) }
    if value.isNull {
      if !isOptional { throw refuse("null in a column that is not optional") }
      return value
    }
    switch (type, value) {
    case (.text, .text(var text)), (.json, .text(var text)):
      if text.withUTF8({ $0.contains(0) }) { throw refuse("text with a NUL character") }
      return value
    case (.integer, .integer), (.timestamp, .integer), (.blob, .blob): return value
    case (.boolean, .integer(let number)):
      if number != 0, number != 1 { throw refuse("a boolean is 0 or 1") }
      return value
    case (.real, .real(let number)):
      if !number.isFinite { throw refuse("a number that is not finite") }
      return .real(number == 0 ? 0 : number)
    case (.real, .integer(let number)):
      guard let exact = Double(exactly: number) else { throw refuse("an integer that no double equals") }
      return .real(exact)
    case (.decimal, .text(let text)):
      if !Forms.isDecimal(text) { throw refuse("a decimal is written like -12.50") }
      return value
    case (.date, .text(let text)):
      if !Forms.isDate(text) { throw refuse("a date is written YYYY-MM-DD") }
      return value
    case (.uuid, .text(let text)):
      if Bytes16(uuidText: text) == nil { throw refuse("a UUID is written in lower case, 8-4-4-4-12 digits") }
      return value
    default: throw refuse("\(type.rawValue) wanted, \(value.className) found")
    }
  }
}

extension Value {
  /// The storage class, for messages.
  package var className: String {
    switch self {
    case .null: "null"
    case .integer: "integer"
    case .real: "real"
    case .text: "text"
    case .blob: "blob"
    }
  }
}

/// The declared forms of values that travel as text.
package enum Forms {
  package static func isDecimal(_ text: String) -> Bool {
    var units = Array(text.utf8)
    let isNegative = units.first == UInt8(ascii: "-")
    if isNegative { units.removeFirst() }
    let parts = units.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), units.count <= 64, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) })
    else { return false }
    if parts[0].count > 1, parts[0].first == UInt8(ascii: "0") { return false }
    return !isNegative || units.contains { $0 != UInt8(ascii: "0") && $0 != UInt8(ascii: ".") }
  }

  package static func isDate(_ text: String) -> Bool {
    let units = Array(text.utf8)
    guard units.count == 10, units[4] == UInt8(ascii: "-"), units[7] == UInt8(ascii: "-") else { return false }
    func number(_ range: Range<Int>) -> Int? {
      units[range].allSatisfy(isDigit) ? units[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } : nil
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), (1...12).contains(month)
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    return (1...days).contains(day)
  }

  private static func isDigit(_ unit: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(unit) }
}
