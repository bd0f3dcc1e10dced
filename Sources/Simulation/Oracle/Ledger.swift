// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// Every mutation that a device's people made, from the write to its end. It goes with the file: a copy of a device has a
/// copy of its ledger.
struct Ledger {
  enum Fate: String {
    /// In the outbox.
    case pending
    /// In the archive: its receipt was published.
    case confirmed
    /// In the inbox of refusals.
    case refused
    /// Acknowledged, or safe in the server's backup, or void.
    case ended
  }

  struct Record {
    let id: MutationID
    let operations: [Operation]
    let made: Int
    var isVoid = false
    var fate = Fate.pending
  }

  private(set) var records: [MutationID: Record] = [:]
  /// Those that have not ended, in the order in which they were made.
  private(set) var open: [MutationID] = []
  private var count = 0
  /// Writes that have not returned, or ended with an error of the disk or the death of their process: each may be there or
  /// not, but as it was meant.
  var uncertain: [Intent] = []

  subscript(id: MutationID) -> Record? { records[id] }

  mutating func note(_ id: MutationID, _ operations: [Operation]) {
    count += 1
    records[id] = Record(id: id, operations: operations, made: count)
    open.append(id)
  }

  mutating func withdraw(_ id: MutationID) { records[id]?.isVoid = true }

  mutating func set(_ id: MutationID, _ fate: Fate) {
    guard let old = records[id]?.fate, old != fate else { return }
    records[id]?.fate = fate
    if fate == .ended { open.removeAll { $0 == id } }
    if old == .ended {
      open.append(id)
      open.sort { (records[$0]?.made ?? 0) < (records[$1]?.made ?? 0) }
    }
  }
}
