// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryStore
import Synchronization

/// What a person's write was meant to be, step by step, to be held against the operations that the outbox then has.
final class Intent: Sendable {
  private let rules: Rules
  private let made = Mutex<[Deed]>([])

  /// The deeds that had an effect, with only the fields that changed.
  var steps: [Deed] { made.withLock { $0 } }

  private func note(_ deed: Deed) { made.withLock { $0.append(deed) } }

  init(rules: Rules) { self.rules = rules }

  /// Carries out a deed; one that cannot be, such as an edit of a row that this very write has deleted, leaves no trace.
  func carryOut(_ deed: Deed, _ tx: inout WriteTransaction) throws {
    do {
      switch deed {
      case .insert(let key, let values):
        try tx.insert(key.table, values)
        note(deed)
      case .update(let key, let values):
        guard let before = try tx.row(key) else { return }
        let changed = values.filter { before[$0.key] != $0.value }
        try tx.update(key, values)
        if !changed.isEmpty { note(.update(key, changed)) }
      case .increment(let key, let column, let amount):
        guard try tx.row(key) != nil else { return }
        try tx.increment(key, column, by: amount)
        note(deed)
      case .delete(let key):
        guard try tx.row(key) != nil else { return }
        try tx.delete(key)
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
      let keys = Set(rules.tables[deed.key.table]?.definition.key ?? [])
      let wanted = values.filter { !keys.contains($0.key) && !$0.value.isNull }
      return isSame(wanted, fields.filter { !$0.value.isNull && !keys.contains($0.column) })
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
