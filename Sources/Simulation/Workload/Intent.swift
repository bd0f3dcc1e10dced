// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryStore
import Synchronization

/// What a person's write was meant to be, step by step, to be held against the operations that the outbox then has.
final class Intent: Sendable {
  private let rules: Rules
  private let catalog: Catalog
  private let made = Mutex<[Deed]>([])

  /// The deeds that had an effect, with only the fields that changed.
  var steps: [Deed] { made.withLock { $0 } }

  private func note(_ deed: Deed) { made.withLock { $0.append(deed) } }

  /// - Parameter catalog: of the version of the schema by which the app writes.
  init(rules: Rules, catalog: Catalog) {
    self.rules = rules
    self.catalog = catalog
  }

  /// Carries out a deed; one that cannot be, such as an edit of a row that this very write has deleted, leaves no trace.
  ///
  /// Tables that are declared as records are written by way of them, others by the names of their columns.
  func carryOut(_ deed: Deed, _ tx: inout WriteTransaction) throws {
    let scribe = Scribes.of(deed.key.table, in: catalog)
    do {
      switch deed {
      case .insert(let key, let values):
        if let scribe { try scribe.insert(values, &tx) } else { try tx.insert(key.table, values) }
        note(deed)
      case .update(let key, let values):
        guard let before = try tx.row(key) else { return }
        let changed = values.filter { before[$0.key] != $0.value }
        if let scribe { try scribe.update(key, values, &tx) } else { try tx.update(key, values) }
        if !changed.isEmpty { note(.update(key, changed)) }
      case .increment(let key, let column, let amount):
        guard try tx.row(key) != nil else { return }
        if let scribe {
          try scribe.increment(key, column, amount, &tx)
        } else {
          try tx.increment(key, column, by: amount)
        }
        note(deed)
      case .delete(let key):
        guard try tx.row(key) != nil else { return }
        if let scribe { try scribe.delete(key, &tx) } else { try tx.delete(key) }
        note(deed)
      }
    } catch let error as StoreError {
      guard [.notFound, .exists, .overflow, .invalid].contains(error.code) else { throw error }
      try judge(error, deed, seeing: tx.row(deed.key))
    }
  }

  /// What a write says that it cannot do, it must be right about.
  private func judge(_ error: StoreError, _ deed: Deed, seeing row: [String: Value]?) throws {
    let isRight: Bool
    switch (error.code, deed) {
    case (.exists, .insert): isRight = row != nil
    case (.overflow, .increment(_, let column, let amount)):
      isRight = row?[column]?.integer.map { $0.addingReportingOverflow(amount).overflow } ?? false
    default: isRight = false
    }
    try need(isRight, "INV 5 a write was refused without a cause", "\(deed): \(error), on \(String(describing: row))")
  }

  /// Throws unless the operations say what was meant.
  func check(_ operations: [Operation], _ name: String) throws {
    try need(
      operations.count == steps.count, "I-2 the outbox has other steps than were made",
      "\(name) \(operations), meant \(steps)")
    for (deed, operation) in zip(steps, operations) {
      try need(
        says(operation, deed), "I-2 the outbox says something else than was meant",
        "\(name) \(operation), meant \(deed)")
    }
  }

  private func says(_ operation: Operation, _ deed: Deed) -> Bool {
    guard operation.key == deed.key else { return false }
    switch (deed, operation.action) {
    case (.insert(_, let values), .insert(let fields)):
      let table = rules.tables[deed.key.table]?.definition
      // What a new row has anyway may be said or left out.
      func isSaid(_ column: String, _ value: Value) -> Bool {
        if value.isNull || table?.key.contains(column) == true { return false }
        return value != 0 || table?.columns.first { $0.name == column }?.rule != .counter
      }
      return isSame(
        values.filter { isSaid($0.key, $0.value) }, fields.filter { isSaid($0.column, $0.value) })
    case (.update(_, let values), .set(let fields, _)): return isSame(values, fields)
    case (.increment(_, let column, let amount), .increment(let name, let number)):
      return column == name && amount == number
    case (.delete, .delete): return true
    default: return false
    }
  }

  private func isSame(_ values: [String: Value], _ fields: [Field]) -> Bool {
    values.count == fields.count && fields.allSatisfy { values[$0.column] == $0.value }
  }
}
