// SPDX-License-Identifier: Apache-2.0

package import SkerryMerge
package import SkerryModel

/// The database behind a server: the app's own tables, and Skerry's beside them.
///
/// The contract that every backend keeps, and that the conformance suite tests:
///
/// - `write` runs its closure in one transaction that sees everything committed before it and either commits whole or not at
///   all. Its result is returned only after the commit is durable. While another program holds the lock for longer than the
///   backend waits, it throws `StorageError.busy` and nothing has happened.
/// - `read` runs its closure in one snapshot: all its calls see the same commits. It waits for no writer.
/// - A row of an app's table that any connection inserts, changes or deletes, by any SQL that `doctor` does not warn of, is
///   captured in the same transaction, with a number that no other capture has. An update that changes nothing is not
///   captured. The capture also sets the row's version tag: that of the mutation under `write(_:…)`, otherwise a new one
///   that is foreign (`VersionTag.isForeign`), as no mutation's id may be.
/// - A row whose key no device could send (null, or of another class than the schema declares) is never captured.
/// - Numbers may become visible in another order than they were drawn; `removeCaptures` removes exactly those named.
/// - Ids, spaces, names and keys are compared by bytes.
/// - The closures are synchronous and do not let the transaction out. Methods that change something are called within
///   `write` only.
package protocol Storage: Sendable {
  /// Runs a closure in one transaction; waits for other writers as long as the backend is told to.
  func write<T>(_ body: (any StorageTransaction) throws -> T) throws -> T
  /// The same for work that can as well be done later: throws `StorageError.busy` after a short wait.
  func writeSoon<T>(_ body: (any StorageTransaction) throws -> T) throws -> T
  /// Runs a closure in one snapshot.
  func read<T>(_ body: (any StorageTransaction) throws -> T) throws -> T
}

/// Why the database did not do what was asked.
package enum StorageError: Error, Sendable, CustomStringConvertible {
  /// Another program holds a lock; nothing has happened, and the same call may pass later.
  case busy
  /// The database's own constraint refused a row; the text names it, without values.
  case constraint(String)
  /// The database has ended the whole transaction, as a trigger of the app may do; nothing of it has happened, and whoever
  /// catches this must not go on in it.
  case ended(String)
  /// What the database holds cannot be understood.
  case damaged(String)
  /// The database belongs to another schema, or has tables of its own that do not fit; the text says what to do.
  case otherSchema(String)

  package var description: String {
    switch self {
    case .busy: "the database is busy; try again"
    case .constraint(let text): "the database refused the row: \(text)"
    case .ended(let text): "the database ended the transaction: \(text)"
    case .damaged(let text): "the database holds what cannot be read: \(text); run an integrity check on it"
    case .otherSchema(let text): text
    }
  }
}

/// One transaction or snapshot of a storage.
package protocol StorageTransaction: AppRows, Captures, SequencedRows, ChangeLog, Receipts, KnownSchemas {
  /// Runs a closure whose changes are undone alone when it throws.
  ///
  /// The database's own constraints between rows hold at its end: those that may wait until the end of a transaction are
  /// waited for so long.
  ///
  /// - Throws: what the closure throws, or `StorageError.constraint` if the rows that it leaves break one.
  func savepoint<T>(_ body: () throws -> T) throws -> T
}

/// Who writes a row: the mutation and the operation's place in it, which become the version tag and, for an insert, the
/// incarnation.
package struct Writer: Hashable, Sendable {
  package let mutation: MutationID
  package let index: UInt16

  package init(mutation: MutationID, index: UInt16) {
    self.mutation = mutation
    self.index = index
  }
}

/// The app's own tables.
package protocol AppRows {
  /// The row as it is in this transaction; nil if there is none.
  func row(_ key: RowKey) throws -> RowState?
  /// Makes the row what `new` says, nil to delete it; `old` is what `row` gave. Captured under the writer's tag.
  ///
  /// - Throws: `StorageError.constraint` if the database refuses the row.
  func write(_ key: RowKey, from old: RowState?, to new: RowState?, by writer: Writer) throws
  /// The rows whose parent, by any rule, is this row, whether or not it is there.
  func children(of key: RowKey) throws -> [RowKey]
  /// Whether a declared membership table makes the user a member of the space.
  func isMember(_ user: AccountID, of space: SpaceID) throws -> Bool
  /// Whether any row names the space as its own, or any membership does.
  func isUsed(_ space: SpaceID) throws -> Bool
}

/// What has been captured and not yet sequenced.
package protocol Captures {
  /// Whether this snapshot holds any.
  func hasCaptures() throws -> Bool
  /// All that this snapshot holds, in the order of their numbers.
  func captures() throws -> [Capture]
  /// Notes that a receipt is new, or is wanted by another replica.
  func captureReceipt(_ receipt: ReceiptKey) throws
  /// Removes exactly these.
  func removeCaptures(_ numbers: [Int64]) throws
}

/// A row or a receipt that changed in some committed transaction.
package struct Capture: Hashable, Sendable {
  package let number: Int64
  package let subject: Subject

  package init(number: Int64, subject: Subject) {
    self.number = number
    self.subject = subject
  }

  /// What changed.
  package enum Subject: Hashable, Sendable {
    case row(RowKey)
    case receipt(ReceiptKey)
  }
}

/// Whose receipt: an account's, of one of its mutations.
package struct ReceiptKey: Hashable, Sendable, Comparable {
  package let user: AccountID
  package let mutation: MutationID

  package init(user: AccountID, mutation: MutationID) {
    self.user = user
    self.mutation = mutation
  }

  package static func < (left: Self, right: Self) -> Bool {
    left.user == right.user ? left.mutation < right.mutation : left.user < right.user
  }

  /// The key under which a cursor names it.
  package var rowKey: RowKey { RowKey("$receipt", .text(user.text), .blob(mutation.raw.bytes)) }

  package init?(_ key: RowKey) {
    guard key.values.count == 2, let user = key.values[0].text, case .blob(let bytes) = key.values[1],
      let mutation = MutationID(bytes: bytes)
    else { return nil }
    self.init(user: AccountID(user), mutation: mutation)
  }
}
