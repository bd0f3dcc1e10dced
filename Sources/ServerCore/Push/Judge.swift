// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel

/// Judges one mutation in a transaction: receipt key, permission, rule, rows, receipt.
///
/// The right to what a row was is judged before any rule reads it, so that a refusal tells nobody what a row holds that they
/// may not see. A row that they name by another life than it has is `gone` to them, whether it is there or not.
struct Judge {
  let catalog: Catalog
  let transaction: any StorageTransaction
  let user: AccountID
  let replica: ReplicaID
  /// How the device speaks.
  let dialect: Dialect

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
    if try transaction.isTaken(mutation.id, byOtherThan: user) {
      return refused(.taken, "the mutation's id is in use; offer it under a new one")
    }
    var change = Change(mutation.id, operations)
    for key in change.touched { change.before[key] = try transaction.row(key) }
    let permission = Permission(catalog, transaction, user: user)
    guard try permission.allows(operations, on: change.before) else { return refused(.forbidden, Judge.outside) }
    if let (code, operation) = change.apply(operations, catalog) {
      return refused(code, Judge.reason(code, operation))
    }
    guard try permission.allows(change.before, change.after, touched: Set(change.touched)) else {
      return refused(.forbidden, Judge.outside)
    }
    do {
      try transaction.savepoint { try change.write(in: transaction) }
    } catch StorageError.constraint(let text) {
      return refused(.constraint, text)
    }
    return Receipt(id: mutation.id, outcome: .confirmed)
  }

  private static let outside = "a row is outside the spaces in which this account may write"

  private func normalised(_ mutation: Mutation) throws(OperationError) -> [Operation] {
    if mutation.operations.isEmpty || mutation.operations.count > Limits.operations {
      throw OperationError(
        "mutation", "1 to \(Limits.operations) operations wanted, \(mutation.operations.count) found")
    }
    if mutation.after.count > Limits.predecessors {
      throw OperationError("mutation", "more than \(Limits.predecessors) predecessors")
    }
    // The tag of a foreign write can be read by whoever reads the row. A mutation under it would not be seen as a change.
    if mutation.id.tag.isForeign { throw OperationError("mutation", "its id is no UUID of version 7") }
    return try dialect.operations(mutation.operations)
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
