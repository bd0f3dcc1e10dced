// SPDX-License-Identifier: Apache-2.0

import SkerryWire

/// A row of the example's schema by its table and its id, which no other row of the test has.
struct RowName: Hashable, Comparable, Sendable, CustomStringConvertible {
  var table: String
  var id: String

  var description: String { "\(table)/\(id)" }

  static func < (left: RowName, right: RowName) -> Bool { (left.table, left.id) < (right.table, right.id) }
}

/// What one order does to one row.
enum Step: Sendable, Equatable {
  case insert(RowName, [String: JSON])
  case update(RowName, [String: JSON])
  case increment(RowName, String, Int64)
  case delete(RowName)

  var row: RowName {
    switch self {
    case .insert(let row, _), .update(let row, _), .increment(let row, _, _), .delete(let row): row
    }
  }
}

extension Step {
  /// In the form that a device takes, see `docs/device.md`.
  var json: JSON {
    switch self {
    case .insert(let row, let values):
      [
        "op": "insert", "table": .string(row.table),
        "values": Step.object(values.merging(["id": .string(row.id)]) { $1 }),
      ]
    case .update(let row, let values): named("update", row, .init("values", Step.object(values)))
    case .increment(let row, let column, let amount):
      named("increment", row, .init("column", .string(column)), .init("by", .integer(amount)))
    case .delete(let row): named("delete", row)
    }
  }

  private func named(_ op: String, _ row: RowName, _ rest: JSON.Member...) -> JSON {
    .object([.init("op", .string(op)), .init("table", .string(row.table)), .init("key", [.string(row.id)])] + rest)
  }

  private static func object(_ values: [String: JSON]) -> JSON {
    .object(values.sorted { $0.key < $1.key }.map { JSON.Member($0.key, $0.value) })
  }

  /// Nil for anything that `json` would not give.
  init?(_ json: JSON) {
    guard case .string(let op)? = json["op"], case .string(let table)? = json["table"] else { return nil }
    var values: [String: JSON] = [:]
    if case .object(let members)? = json["values"] { for member in members { values[member.name] = member.value } }
    if op == "insert" {
      guard case .string(let id)? = values["id"] else { return nil }
      values["id"] = nil
      self = .insert(RowName(table: table, id: id), values)
      return
    }
    guard case .array(let key)? = json["key"], key.count == 1, case .string(let id) = key[0] else { return nil }
    let row = RowName(table: table, id: id)
    switch (op, json["column"], json["by"]) {
    case ("update", _, _): self = .update(row, values)
    case ("increment", .string(let column)?, .integer(let amount)?): self = .increment(row, column, amount)
    case ("delete", _, _): self = .delete(row)
    default: return nil
    }
  }
}

/// One write that somebody was told to do, as one transaction.
struct Order: Sendable {
  /// Who writes: a device's folder, a point and the number of one of its writers; or `Order.sql`.
  var writer: String
  var number: Int
  var steps: [Step]

  /// Another program that writes the server's tables.
  static let sql = "sql"

  /// The device's folder; nil for a write past Skerry.
  var device: String? { writer == Order.sql ? nil : writer.split(separator: ".").first.map(String.init) }

  /// How the device calls the mutation.
  var label: String { "order \(number)" }

  /// Whether others may have ended a row that it changes: then it may be refused, by the device or by the server.
  var mayBeRefused: Bool { steps.allSatisfy { $0.row.id.hasPrefix(Rows.shared) } }

  var isIncrement: Bool { steps.contains { if case .increment = $0 { true } else { false } } }
}

/// The kinds of rows, told by the first letter of their ids.
enum Rows {
  /// People that all count the visits of.
  static let counters = (0..<4).map { RowName(table: "people", id: "C\($0)") }
  /// People whose visits are counted without a mark. A mark that is there already would keep an order from counting twice, and
  /// hide that the server had forgotten it.
  static let bareCounters = (0..<3).map { RowName(table: "people", id: "B\($0)") }
  /// One for each count of visits, below the counted person, written with it: so each counter is the sum of its marks.
  static let mark = "M"
  /// People that one writer has to itself, each with the office of the same number, changed with it.
  static let own = "P"
  static let office = "O"
  /// People that everybody changes and ends.
  static let shared = "X"
  static let team = "crew"
}
