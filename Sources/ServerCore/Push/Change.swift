// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel

/// What one mutation makes of the rows that it touches.
struct Change {
  let mutation: MutationID
  /// The rows' keys, in the order in which the mutation names them.
  let touched: [RowKey]
  /// The rows as they are; those that are not there have no entry.
  var before: [RowKey: RowState] = [:]
  private(set) var after: [RowKey: RowState] = [:]
  private var inserts: [RowKey: UInt16] = [:]

  init(_ mutation: MutationID, _ operations: [Operation]) {
    self.mutation = mutation
    var seen: Set<RowKey> = []
    touched = operations.map(\.key).filter { seen.insert($0).inserted }
  }

  /// Applies the rule to `before`.
  ///
  /// - Returns: the first operation that is refused, and why; then nothing of the mutation may have an effect.
  mutating func apply(_ operations: [Operation], _ catalog: Catalog) -> (RefusalCode, Operation)? {
    after = before
    for (index, operation) in operations.placed {
      guard let table = catalog.table(operation.key.table) else { continue }
      switch Merge.apply(operation, at: index, of: mutation, to: after[operation.key], in: table) {
      case .becomes(let row):
        after[operation.key] = row
        if operation.isInsert { inserts[operation.key] = UInt16(index) }
      case .refused(let code): return (code, operation)
      }
    }
    return nil
  }

  /// Writes the rows, in the order in which the mutation names them: what the app's own constraints ask of an order, a
  /// mutation can keep.
  func write(in transaction: any StorageTransaction) throws {
    for key in touched where before[key] != nil || after[key] != nil {
      let writer = Writer(mutation: mutation, index: inserts[key] ?? 0)
      // A row that was deleted and inserted again has another incarnation: it goes and comes, so that it is captured so.
      if let old = before[key], let new = after[key], old.incarnation != new.incarnation {
        try transaction.write(key, from: old, to: nil, by: writer)
        try transaction.write(key, from: nil, to: new, by: writer)
      } else {
        try transaction.write(key, from: before[key], to: after[key], by: writer)
      }
    }
  }
}
