// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// A table as pages need it: how members of an object become a row of the table and back.
///
/// A class, so that a page of thousands of rows hands on one reference and not a table's description.
final class RowShape: Sendable {
  let table: TableInfo
  /// The columns outside the key, in the schema's order.
  private let others: [Int]
  private let names: [[UInt8]]
  private let encodedNames: [[UInt8]]
  private let types: [ColumnType]
  private let defaults: [Value]

  init(_ table: TableInfo) {
    self.table = table
    others = table.columns.indices.filter { !table.keyColumns.contains($0) }
    names = table.columns.map { Array($0.name.utf8) }
    encodedNames = table.columns.map { Array("\"\($0.name)\":".utf8) }  // a column's name needs no escape
    types = table.columns.map(\.type)
    defaults = table.columns.map { $0.rule == .counter ? .integer(0) : .null }
  }

  // MARK: reading

  func key(_ node: JSONNode) throws(WireError) -> RowKey { RowKey(table.name, values: try keyValues(node)) }

  private func keyValues(_ node: JSONNode) throws(WireError) -> [Value] {
    guard node.kind == .array, node.count == table.keyColumns.count else {
      throw node.refused("a key of \(table.keyColumns.count) values")
    }
    var values: [Value] = []
    values.reserveCapacity(node.count)
    for element in node.children {
      if element.kind == .null { throw element.refused("a key without null") }
      values.append(try checked(element, table.keyColumns[values.count]))
    }
    return values
  }

  /// A row's key and all its values. Columns that the message does not name keep their defaults; columns that this schema
  /// does not know are ignored; what names a key column again is ignored too, since the key has decided.
  func row(key: JSONNode, fields: JSONNode) throws(WireError) -> (key: RowKey, values: [Value]) {
    let keyed = try keyValues(key)
    var values = defaults
    guard fields.kind == .object else { throw fields.wrong("an object as 'fields'") }
    var place = 0
    for name in fields.children {
      guard let column = column(name, after: &place) else { continue }
      values[column] = try checked(name.following, column)
    }
    for (value, column) in zip(keyed, table.keyColumns) { values[column] = value }
    return (RowKey(table.name, values: keyed), values)
  }

  /// The column of that name outside the key. The place is where the last one was found: messages that keep the schema's
  /// order, as ours do, are read without a search.
  private func column(_ name: JSONNode, after place: inout Int) -> Int? {
    func matches(_ column: Int) -> Bool {
      names[column].withUnsafeBufferPointer { name.document.isText(name.index, $0) }
    }
    if place == others.count { place = 0 }
    if !others.isEmpty, !matches(others[place]) {
      guard let found = others.firstIndex(where: matches) else { return nil }
      place = found
    }
    defer { place += 1 }
    return others.isEmpty ? nil : others[place]
  }

  /// The value in its stored form, or a refusal if it is of another class than the column's: a server that errs or means
  /// harm cannot make a device store that. The declared forms (of dates, decimals, UUIDs) are for writers: a row that some
  /// other program wrote into the server's table must not make whole pages unreadable.
  private func checked(_ node: JSONNode, _ column: Int) throws(WireError) -> Value {
    let value = try node.value()
    switch (types[column], value) {
    case (.text, .text), (.json, .text), (.decimal, .text), (.date, .text), (.uuid, .text), (.integer, .integer),
      (.timestamp, .integer), (.boolean, .integer), (.blob, .blob), (_, .null):
      return value
    case (.real, .real(let number)) where number.isFinite: return .real(number == 0 ? 0 : number)
    case (.real, .integer(let number)): return .real(Double(number))
    default:
      let place = "\(table.name).\(table.columns[column].name)"
      throw WireError(
        .invalid, at: node.offset, expected: "\(types[column].rawValue) in \(place)", found: value.className)
    }
  }

  // MARK: writing

  /// Writes a row's columns outside the key, each of them, in the schema's order.
  func write(fields values: [Value], to writer: inout JSONWriter) {
    writer.name("fields")
    writer.object { writer in
      for column in others where column < values.count {
        writer.name(encoded: encodedNames[column])
        writer.value(values[column])
      }
    }
  }
}
