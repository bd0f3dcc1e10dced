// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryModel
import SkerryRecords
import SkerryStore

/// Carries out deeds on one table as an app does: with records.
protocol Scribe: Sendable {
  func insert(_ values: [String: Value], _ tx: inout WriteTransaction) throws
  func update(_ key: RowKey, _ values: [String: Value], _ tx: inout WriteTransaction) throws
  /// By the counter's key path where the key is an id, otherwise by changing the record.
  func increment(_ key: RowKey, _ column: String, _ amount: Int64, _ tx: inout WriteTransaction) throws
  func delete(_ key: RowKey, _ tx: inout WriteTransaction) throws
  /// Every row as the app reads it.
  func all(_ replica: Replica) async throws -> [RowKey: [Value]]
}

/// The scribes of a schema: those of the standard world, whose tables are declared as records.
enum Scribes {
  private static let all: [(TableDefinition, any Scribe)] = [
    (Team.table.definition, RecordScribe<Team>(counter: \Team.n)),
    (Member.table.definition, RecordScribe<Member>(counter: \Member.n)),
    (Item.table.definition, RecordScribe<Item>(counter: \Item.n)),
    (Doc.table.definition, RecordScribe<Doc>(counter: \Doc.n)),
    (Note.table.definition, RecordScribe<Note>(counter: \Note.n)),
    (Part.table.definition, RecordScribe<Part>(counter: \Part.n)),
    (Stock.table.definition, RecordScribe<Stock>(counter: nil)),
    (Notice.table.definition, RecordScribe<Notice>(counter: nil)),
  ]

  /// Nil for a table that is declared otherwise, as in an app's own schema and in an earlier version.
  static func of(_ table: String, in catalog: Catalog) -> (any Scribe)? {
    guard let info = catalog.table(table) else { return nil }
    return all.first { $0.0 == info.definition }?.1
  }
}

struct RecordScribe<R: Record>: Scribe {
  let counter: (any KeyPath<R, Int64> & Sendable)?

  func insert(_ values: [String: Value], _ tx: inout WriteTransaction) throws {
    try tx.insert(record(values, R.table.definition.columns.map { $0.rule == .counter ? 0 : .null }))
  }

  func update(_ key: RowKey, _ values: [String: Value], _ tx: inout WriteTransaction) throws {
    try change(key, &tx) { $0 = try record(values, R.table.values(of: $0)) }
  }

  func increment(_ key: RowKey, _ column: String, _ amount: Int64, _ tx: inout WriteTransaction) throws {
    if let counter, let id = key.values.first?.text {
      try tx.increment(counter, of: RowID<R>(id), by: amount)
    } else {
      try change(key, &tx) { record in
        let values = try R.table.values(of: record)
        guard let index = R.table.definition.columns.firstIndex(where: { $0.name == column }),
          let old = values[index].integer
        else { return }
        let (sum, isOver) = old.addingReportingOverflow(amount)
        if isOver { throw StoreError(.overflow, "\(R.table.name).\(column)") }
        record = try self.record([column: .integer(sum)], values)
      }
    }
  }

  func delete(_ key: RowKey, _ tx: inout WriteTransaction) throws {
    switch parts(key) {
    case (.some(let first), nil): try tx.delete(R.self, key: first)
    case (.some(let first), .some(let second)): try tx.delete(R.self, key: first, second)
    default: break
    }
  }

  func all(_ replica: Replica) async throws -> [RowKey: [Value]] {
    var out: [RowKey: [Value]] = [:]
    for record in try await replica.read(R.query("")) { out[try key(of: record)] = try R.table.values(of: record) }
    return out
  }

  private func key(of record: R) throws -> RowKey {
    let values = try R.table.values(of: record)
    let places = R.table.definition.key.map { name in R.table.definition.columns.firstIndex { $0.name == name } ?? 0 }
    return RowKey(R.table.name, values: places.map { values[$0] })
  }

  private func change(
    _ key: RowKey, _ tx: inout WriteTransaction, _ body: (inout R) throws -> Void
  ) throws {
    switch parts(key) {
    case (.some(let first), nil): try tx.update(R.self, key: first, change: body)
    case (.some(let first), .some(let second)): try tx.update(R.self, key: first, second, change: body)
    default: break
    }
  }

  private func parts(_ key: RowKey) -> ((any ColumnValue)?, (any ColumnValue)?) {
    func part(_ index: Int) -> (any ColumnValue)? {
      guard index < key.values.count else { return nil }
      return key.values[index].text ?? key.values[index].integer
    }
    return (part(0), part(1))
  }

  /// A record with these values, and others from before.
  private func record(_ values: [String: Value], _ before: [Value]) throws -> R {
    try R(row: zip(R.table.definition.columns, before).map { values[$0.name] ?? $1 })
  }
}
