// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// Rows, versions, fields and what is written.
extension HistoryScanner {
  /// A row: the letter of its table and its rank.
  mutating func key(_ names: HistoryNames) throws -> Int { try names.key(take(), number()) }

  mutating func mutation() throws -> Int {
    guard takes("m") else { throw Difference("a mutation wanted at \(rest)") }
    return try number()
  }

  mutating func tag() throws -> HistoryTag {
    if takes("\"") { return .other(quoted()) }
    if takes("x") { return .foreign(try number()) }
    let rank = try mutation()
    return takes(":") ? .insert(rank, try number()) : .mutation(rank)
  }

  /// Fields, each behind a comma, put in their places in `values`.
  ///
  /// - Parameter writer: the name of the mutation or transaction that writes them.
  mutating func fields(
    of table: HistoryTable, _ names: HistoryNames, writer: String, _ body: (Int, Value) -> Void
  ) throws {
    while takes(",") {
      let (place, value) = try field(of: table, names, writer: writer)
      body(place, value)
    }
  }

  /// One field, behind its comma: the column's place, and its value.
  mutating func field(of table: HistoryTable, _ names: HistoryNames, writer: String) throws -> (Int, Value) {
    let letter = try take()
    guard let place = table.columns.firstIndex(where: { $0.letter == letter }) else {
      throw Difference("no column \(UnicodeScalar(letter)) in \(table.name)")
    }
    return (place, try value(letter, names, writer))
  }

  private mutating func value(_ column: UInt8, _ names: HistoryNames, _ writer: String) throws -> Value {
    if column == UInt8(ascii: "n") { return .integer(Int64(try number())) }
    if takes("-") { return .null }
    if takes("\"") { return .text(quoted()) }
    switch UnicodeScalar(column) {
    case "u": return .text(word())
    case "h", "l": return .text(try names.space(reference()).text)
    case "p", "t": return .text(isAtDigit ? word() : names.ids[try key(names)])
    default: break
    }
    if isAtDigit { return .text(word()) }
    if next == UInt8(ascii: "/") { return .text(writer + word()) }
    let name = takes("x") ? names.transactionNames[try number()] : names.mutationNames[try mutation()]
    return .text(name + word())
  }

  /// What an insert writes: the usual values, and those that it spells.
  mutating func inserted(_ table: HistoryTable, _ names: HistoryNames, writer: String) throws -> [Value] {
    var values = table.columns.map { column -> Value in
      switch column.usual {
      case .null: .null
      case .zero: .text("0")
      case .number: .integer(0)
      case .writer: .text(writer)
      }
    }
    try fields(of: table, names, writer: writer) { values[$0] = $1 }
    return values
  }

  /// A mutation's operations as they are meant by one who sees these rows.
  mutating func operations(
    _ names: HistoryNames, of mutation: Int, on seen: HistoryRows
  ) throws -> [HistoryOperation] {
    var (rows, out): (HistoryRows, [HistoryOperation]) = (seen, [])
    while !isAtEnd, second != UInt8(ascii: ":"), second != UInt8(ascii: ";"), startsToken() {
      let sign = try take()
      let key = try key(names)
      let life: HistoryTag? = takes("@") ? try tag() : rows[key]?.incarnation
      let table = HistoryTable.all[names.tables[key]]
      let isChecked = sign == UInt8(ascii: "=") && names.tables[key] == HistoryTable.checked
      let base: HistoryTag? = takes("^") ? try tag() : isChecked ? rows[key]?.version : nil
      let writer = names.mutationNames[mutation]
      var values: [(Int, Value)] = []
      let action: HistoryOperation.Action
      switch UnicodeScalar(sign) {
      case "+":
        action = .insert
        values = Array(try inserted(table, names, writer: writer).enumerated()).map { ($0.offset, $0.element) }
      case "=", "%":
        action = sign == UInt8(ascii: "=") ? .set : .add
        try fields(of: table, names, writer: writer) { values.append(($0, $1)) }
      default: action = .delete
      }
      let isInsert = action == .insert
      out.append(
        HistoryOperation(
          action: action, key: key, incarnation: isInsert ? nil : life, base: base, values: values))
      rows.fold(out[out.count - 1], mutation, out.count - 1)
    }
    return out
  }

  /// A foreign transaction, of which the verb has been passed.
  mutating func foreign(_ names: HistoryNames, _ rows: HistoryRows) throws -> ForeignCommit {
    guard startsToken(), takes("x") else { throw Difference("a transaction wanted at \(rest)") }
    let transaction = try number()
    let writer = names.transactionNames[transaction]
    var writes: [(key: Int, action: ForeignCommit.Action, values: [Value])] = []
    while !isAtEnd, second != UInt8(ascii: ";"), startsToken() {
      let sign = try take()
      let key = try key(names)
      let table = HistoryTable.all[names.tables[key]]
      switch UnicodeScalar(sign) {
      case "+": writes.append((key, .insert, try inserted(table, names, writer: writer)))
      case "!": writes.append((key, .replace, try inserted(table, names, writer: writer)))
      case "-": writes.append((key, .delete, []))
      case "?": writes.append((key, .none, []))
      default:
        var values = rows[key]?.values ?? []
        try fields(of: table, names, writer: writer) { if $0 < values.count { values[$0] = $1 } }
        writes.append((key, .update, values))
      }
    }
    return ForeignCommit(transaction: transaction, writes: writes)
  }
}
