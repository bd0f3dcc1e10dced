// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
package import SkerryModel
package import SkerryServerCore
import Synchronization

/// A storage that does what a test says other programs do: rows that they have locked, a sequencer that is at work
/// elsewhere, a commit between two transactions of one request.
package final class ScriptedStorage: Storage {
  package struct Script: Sendable {
    /// For each mutation of a push, the rows of it that an open transaction of another program has written: who wants to write
    /// them finds the database busy, and whoever only reads them does not.
    package var locked: [Set<RowKey>] = []
    /// Another process is sequencing.
    package var isSequencerBusy = false
    /// What others do after the sequencer ran and before the page is read.
    package var afterSequencer: (@Sendable () throws -> Void)?

    package init() {}
  }

  private let inner: any Storage
  private let script = Mutex(Script())
  private let didSequence = Mutex(false)

  package init(_ inner: any Storage) { self.inner = inner }

  /// Changes the script; what was sequenced before does not count for it.
  package func set(_ change: (inout Script) -> Void) {
    script.withLock { change(&$0) }
    didSequence.withLock { $0 = false }
  }

  package func write<T>(_ body: (any StorageTransaction) throws -> T) throws -> T {
    let current = script.withLock { $0 }
    return try inner.write { transaction in
      try body(
        ScriptedTransaction(transaction, locked: current.locked) {
          self.didSequence.withLock { $0 = true }
          if current.isSequencerBusy { throw StorageError.busy }
        })
    }
  }

  package func writeSoon<T>(_ body: (any StorageTransaction) throws -> T) throws -> T { try write(body) }

  package func read<T>(_ body: (any StorageTransaction) throws -> T) throws -> T {
    let isDue = didSequence.withLock { flag in
      defer { flag = false }
      return flag
    }
    if isDue, let action = script.withLock({ $0.afterSequencer }) {
      script.withLock { $0.afterSequencer = nil }
      try action()
    }
    return try inner.read(body)
  }
}

/// Passes every call on, but for those that a script concerns.
private final class ScriptedTransaction: StorageTransaction {
  private let inner: any StorageTransaction
  private let locked: [Set<RowKey>]
  private let onCaptures: () throws -> Void
  /// How many mutations were begun, and how deep in savepoints this one is.
  private var (begun, depth) = (0, 0)

  init(_ inner: any StorageTransaction, locked: [Set<RowKey>], onCaptures: @escaping () throws -> Void) {
    self.inner = inner
    self.locked = locked
    self.onCaptures = onCaptures
  }

  func savepoint<T>(_ body: () throws -> T) throws -> T {
    if depth == 0 { begun += 1 }
    depth += 1
    defer { depth -= 1 }
    return try inner.savepoint(body)
  }

  func row(_ key: RowKey) throws -> RowState? {
    if begun > 0, begun <= locked.count, locked[begun - 1].contains(key) { throw StorageError.busy }
    return try inner.row(key)
  }

  func captures() throws -> [Capture] {
    try onCaptures()
    return try inner.captures()
  }

  func write(_ key: RowKey, from old: RowState?, to new: RowState?, by writer: Writer) throws {
    try inner.write(key, from: old, to: new, by: writer)
  }
  func children(of key: RowKey) throws -> [RowKey] { try inner.children(of: key) }
  func isMember(_ user: AccountID, of space: SpaceID) throws -> Bool { try inner.isMember(user, of: space) }
  func isUsed(_ space: SpaceID) throws -> Bool { try inner.isUsed(space) }
  func hasCaptures() throws -> Bool { try inner.hasCaptures() }
  func captureReceipt(_ receipt: ReceiptKey) throws { try inner.captureReceipt(receipt) }
  func removeCaptures(_ numbers: [Int64]) throws { try inner.removeCaptures(numbers) }
  func sequenced(_ key: RowKey) throws -> SequencedRow? { try inner.sequenced(key) }
  func setSequenced(_ key: RowKey, _ row: SequencedRow?) throws { try inner.setSequenced(key, row) }
  func history() throws -> History { try inner.history() }
  func knownSchemas() throws -> [KnownSchema] { try inner.knownSchemas() }
  func setHistory(_ history: History) throws { try inner.setHistory(history) }
  func setEntry(_ space: SpaceID, _ key: RowKey, at position: Int64, _ kind: EntryKind) throws {
    try inner.setEntry(space, key, at: position, kind)
  }
  func entries(in space: SpaceID, after position: Int64, limit: Int) throws -> [LogEntry] {
    try inner.entries(in: space, after: position, limit: limit)
  }
  func liveSubjects(in space: SpaceID, after key: RowKey?, target: Int64, limit: Int) throws -> [Capture.Subject] {
    try inner.liveSubjects(in: space, after: key, target: target, limit: limit)
  }
  func memberships(of user: AccountID) throws -> [MembershipEntry] { try inner.memberships(of: user) }
  func membership(_ membership: Membership) throws -> MembershipEntry? { try inner.membership(membership) }
  func setMembership(_ membership: Membership, at position: Int64, isInside: Bool) throws {
    try inner.setMembership(membership, at: position, isInside: isInside)
  }
  func head(of space: SpaceID) throws -> (position: Int64, digest: SpaceDigest) { try inner.head(of: space) }
  func setHead(of space: SpaceID, position: Int64, digest: SpaceDigest) throws {
    try inner.setHead(of: space, position: position, digest: digest)
  }
  func addRun(last: Int64, nonce: String) throws { try inner.addRun(last: last, nonce: nonce) }
  func nonce(at position: Int64) throws -> String? { try inner.nonce(at: position) }
  func removeTombstones(upTo position: Int64) throws { try inner.removeTombstones(upTo: position) }
  func owner(of replica: ReplicaID) throws -> AccountID? { try inner.owner(of: replica) }
  func register(_ replica: ReplicaID, of user: AccountID) throws { try inner.register(replica, of: user) }
  func settled(_ replica: ReplicaID) throws -> Int64 { try inner.settled(replica) }
  func hasUnshrunkReceipts(_ replica: ReplicaID, upTo number: Int64) throws -> Bool {
    try inner.hasUnshrunkReceipts(replica, upTo: number)
  }
  func settle(_ replica: ReplicaID, upTo number: Int64) throws { try inner.settle(replica, upTo: number) }
  func receipt(_ key: ReceiptKey) throws -> StoredReceipt? { try inner.receipt(key) }
  func insertReceipt(_ key: ReceiptKey, _ receipt: StoredReceipt) throws { try inner.insertReceipt(key, receipt) }
  func isTaken(_ mutation: MutationID, byOtherThan user: AccountID) throws -> Bool {
    try inner.isTaken(mutation, byOtherThan: user)
  }
  func homes(of key: ReceiptKey) throws -> [ReplicaID] { try inner.homes(of: key) }
  func addHome(_ replica: ReplicaID, of key: ReceiptKey) throws { try inner.addHome(replica, of: key) }
  func setPosition(_ position: Int64, of key: ReceiptKey, in replica: ReplicaID) throws {
    try inner.setPosition(position, of: key, in: replica)
  }
  func mutation(_ replica: ReplicaID, number: Int64) throws -> MutationID? {
    try inner.mutation(replica, number: number)
  }
  func setMutation(_ replica: ReplicaID, number: Int64, _ mutation: MutationID) throws {
    try inner.setMutation(replica, number: number, mutation)
  }
}
