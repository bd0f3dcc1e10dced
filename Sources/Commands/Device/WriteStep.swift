// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryStore
import SkerryWire

/// One step of a write as a control message gives it.
enum WriteStep: Sendable {
  case insert(String, [String: Value])
  case update(RowKey, [String: Value])
  case increment(RowKey, String, Int64)
  case delete(RowKey)

  init(_ json: JSON, _ catalog: Catalog) throws {
    let table = try json.text("table")
    func key() throws -> RowKey { RowKey(table, values: try json.list("key").map { try Value($0) }) }
    switch try json.text("op") {
    case "insert": self = .insert(table, try json.values("values"))
    case "update": self = .update(try key(), try json.values("values"))
    case "increment": self = .increment(try key(), try json.text("column"), try json.integer("by"))
    case "delete": self = .delete(try key())
    case let other: throw UsageError(description: "op is insert, update, increment or delete; '\(other)' found")
    }
  }

  func run(_ tx: inout WriteTransaction) throws {
    switch self {
    case .insert(let table, let values): try tx.insert(table, values)
    case .update(let key, let values): try tx.update(key, values)
    case .increment(let key, let column, let amount): try tx.increment(key, column, by: amount)
    case .delete(let key): try tx.delete(key)
    }
  }
}
