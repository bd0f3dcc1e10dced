// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// One thing that a person or a program wants to do to a row.
enum Deed: Sendable, CustomStringConvertible {
  case insert(RowKey, [String: Value])
  case update(RowKey, [String: Value])
  case increment(RowKey, String, Int64)
  case delete(RowKey)

  var key: RowKey {
    switch self {
    case .insert(let key, _), .update(let key, _), .increment(let key, _, _), .delete(let key): key
    }
  }

  var description: String {
    switch self {
    case .insert(let key, let values): "insert \(key) \(Deed.text(values))"
    case .update(let key, let values): "update \(key) \(Deed.text(values))"
    case .increment(let key, let column, let amount): "\(key) \(column) += \(amount)"
    case .delete(let key): "delete \(key)"
    }
  }

  private static func text(_ values: [String: Value]) -> String {
    values.sorted { $0.key < $1.key }.map { "\($0.key)=\(Version.text($0.value))" }.joined(separator: " ")
  }
}

extension Rules {
  /// The values of a row after a deed, as a program that knows nothing of mutations would leave them; nil for no row.
  func values(after deed: Deed, on old: [Value]?) -> [Value]? {
    guard let table = tables[deed.key.table] else { return old }
    switch deed {
    case .insert(let key, let given):
      var values = table.definition.columns.map { $0.rule == .counter ? Value.integer(0) : .null }
      for (index, value) in zip(table.key, key.values) { values[index] = value }
      for (name, value) in given { if let index = table.column(name) { values[index] = value } }
      return values
    case .update(_, let given):
      guard var values = old else { return nil }
      for (name, value) in given { if let index = table.column(name) { values[index] = value } }
      return values
    case .increment(_, let name, let amount):
      guard var values = old, let index = table.column(name) else { return old }
      values[index] = .integer((values[index].integer ?? 0) &+ amount)
      return values
    case .delete: return nil
    }
  }
}
