// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel

/// Judges one mutation in a transaction: receipt key, permission, rule, rows, receipt.
struct Judge {
  let catalog: Catalog
  let transaction: any StorageTransaction
  let user: AccountID
  let replica: ReplicaID

  /// The verdict. Everything that it rests on and brings about is in this transaction.
  ///
  /// - Throws: `StorageError.busy` if a row is locked by another program; nothing has happened then.
  func judge(_ mutation: Mutation) throws -> Verdict {
    let key = ReceiptKey(user: user, mutation: mutation.id)
    if let known = try transaction.receipt(key) { return try repeated(mutation, known, key) }
    if let taken = try transaction.mutation(replica, number: mutation.number), taken != mutation.id {
      return .identityReused(replica)
    }
    for predecessor in mutation.after.prefix(Limits.predecessors) {
      let before = ReceiptKey(user: user, mutation: predecessor)
      if try transaction.receipt(before) == nil { return .notYet(mutation.id) }
    }
    let receipt = try decide(mutation)
    try transaction.insertReceipt(key, StoredReceipt(receipt: receipt, hash: mutation.contentHash))
    try transaction.addHome(replica, of: key)
    try transaction.setMutation(replica, number: mutation.number, mutation.id)
    try transaction.captureReceipt(key)
    return .settled(mutation.id, receipt.outcome)
  }

  /// A mutation that was judged before, under this replica id or another of the same account: the first verdict stands,
  /// even if other operations come under the same id.
  private func repeated(_ mutation: Mutation, _ known: StoredReceipt, _ key: ReceiptKey) throws -> Verdict {
    try transaction.setMutation(replica, number: mutation.number, mutation.id)
    if try !transaction.homes(of: key).contains(replica) {
      try transaction.addHome(replica, of: key)
      try transaction.captureReceipt(key)
    }
    return .settled(mutation.id, known.receipt.outcome)
  }

  private func decide(_ mutation: Mutation) throws -> Receipt {
    if mutation.isVoid { return Receipt(id: mutation.id, outcome: .void) }
    func refused(_ code: RefusalCode, _ reason: String) -> Receipt {
      Receipt(id: mutation.id, outcome: code == .stale ? .conflicted : .rejected, code: code, reason: reason)
    }
    let operations: [Operation]
    do { operations = try normalised(mutation) } catch { return refused(.invalid, error.description) }
    let touched = Set(operations.map(\.key))
    var before: [RowKey: RowState] = [:]
    for key in touched { before[key] = try transaction.row(key) }
    var after = before
    var inserts: [RowKey: UInt16] = [:]
    for (index, operation) in operations.enumerated() {
      guard let table = catalog.table(operation.key.table) else { continue }
      switch Merge.apply(operation, at: index, of: mutation.id, to: after[operation.key], in: table) {
      case .becomes(let row):
        after[operation.key] = row
        if operation.isInsert { inserts[operation.key] = UInt16(index) }
      case .refused(let code): return refused(code, Judge.reason(code, operation))
      }
    }
    let permission = Permission(catalog, transaction, user: user)
    guard try permission.allows(before, after, touched: touched) else {
      return refused(.forbidden, "a row is outside the spaces in which this account may write")
    }
    do {
      try transaction.savepoint { try write(mutation.id, touched, before, after, inserts) }
    } catch StorageError.constraint(let text) {
      return refused(.constraint, text)
    }
    return Receipt(id: mutation.id, outcome: .confirmed)
  }

  private func normalised(_ mutation: Mutation) throws(OperationError) -> [Operation] {
    if mutation.operations.isEmpty || mutation.operations.count > Limits.operations {
      throw OperationError(
        "mutation", "1 to \(Limits.operations) operations wanted, \(mutation.operations.count) found")
    }
    if mutation.after.count > Limits.predecessors {
      throw OperationError("mutation", "more than \(Limits.predecessors) predecessors")
    }
    var out: [Operation] = []
    for operation in mutation.operations { out.append(try catalog.normalised(operation)) }
    return out
  }

  private func write(
    _ mutation: MutationID, _ touched: Set<RowKey>, _ before: [RowKey: RowState], _ after: [RowKey: RowState],
    _ inserts: [RowKey: UInt16]
  ) throws {
    for key in touched.sorted() where before[key] != nil || after[key] != nil {
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

  private static func reason(_ code: RefusalCode, _ operation: Operation) -> String {
    switch code {
    case .exists: "\(operation.key) exists already"
    case .gone: "\(operation.key) is no more"
    case .stale: "\(operation.key) was changed by someone else meanwhile"
    case .overflow: "a counter of \(operation.key) would leave the range of 64-bit integers"
    default: "\(operation.key) cannot be changed so"
    }
  }
}
