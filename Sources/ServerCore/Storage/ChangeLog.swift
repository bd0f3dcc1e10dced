// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// What the sequencer knows of a row since its last run over it.
package struct SequencedRow: Hashable, Sendable {
  /// The spaces in which the log shows it.
  package var spaces: Set<SpaceID>
  /// Its canonical hash, as it is counted in the digests of those spaces.
  package var hash: RowHash
  /// The memberships that it gives.
  package var memberships: [Membership]

  package init(spaces: Set<SpaceID>, hash: RowHash, memberships: [Membership]) {
    self.spaces = spaces
    self.hash = hash
    self.memberships = memberships
  }
}

/// A user in a space.
package struct Membership: Hashable, Sendable, Comparable {
  package let user: AccountID
  package let space: SpaceID

  package init(user: AccountID, space: SpaceID) {
    self.user = user
    self.space = space
  }

  package static func < (left: Self, right: Self) -> Bool {
    left.user == right.user ? left.space < right.space : left.user < right.user
  }
}

/// The sequencer's memory of rows.
package protocol SequencedRows {
  /// Nil for a row that it has not seen, or has seen deleted.
  func sequenced(_ key: RowKey) throws -> SequencedRow?
  /// Remembers the row; nil forgets it.
  func setSequenced(_ key: RowKey, _ row: SequencedRow?) throws
}

/// How a row stands in a space, by the log.
package enum EntryKind: Int64, Hashable, Sendable {
  /// It is in the space.
  case live = 0
  /// It left the space and lives on elsewhere.
  case left = 1
  /// It is no more.
  case deleted = 2
}

/// The newest entry of a row, or of a receipt, in a space.
package struct LogEntry: Hashable, Sendable {
  package let position: Int64
  package let subject: Capture.Subject
  package let kind: EntryKind

  package init(position: Int64, subject: Capture.Subject, kind: EntryKind) {
    self.position = position
    self.subject = subject
    self.kind = kind
  }
}

/// The newest transition of a user's membership in a space.
package struct MembershipEntry: Hashable, Sendable {
  package let space: SpaceID
  package let position: Int64
  package let isInside: Bool

  package init(space: SpaceID, position: Int64, isInside: Bool) {
    self.space = space
    self.position = position
    self.isInside = isInside
  }
}

/// Where the one history of the database stands.
package struct History: Hashable, Sendable {
  /// Marks one life of the database.
  package var epoch: String
  /// The newest position given.
  package var head: Int64
  /// The oldest position from which a delta is still possible.
  package var floor: Int64
  /// Everything up to here is in a backup.
  package var safe: Int64

  package init(epoch: String, head: Int64, floor: Int64, safe: Int64) {
    self.epoch = epoch
    self.head = head
    self.floor = floor
    self.safe = safe
  }
}

/// The log of changes: one entry per space and row, moved to a new position on each change.
package protocol ChangeLog {
  func history() throws -> History
  func setHistory(_ history: History) throws

  /// Sets the row's only entry in a space.
  func setEntry(_ space: SpaceID, _ key: RowKey, at position: Int64, _ kind: EntryKind) throws
  /// The entries of a space after a position, in order of position. For a replica's space these are its receipts.
  func entries(in space: SpaceID, after position: Int64, limit: Int) throws -> [LogEntry]
  /// The live rows of a space in key order, after a key, that have not changed after `target`. For a replica's space all its
  /// sequenced receipts, whatever their position.
  func liveSubjects(
    in space: SpaceID, after key: RowKey?, target: Int64, limit: Int
  ) throws -> [Capture.Subject]

  /// All transitions of a user that are kept.
  func memberships(of user: AccountID) throws -> [MembershipEntry]
  func membership(_ membership: Membership) throws -> MembershipEntry?
  func setMembership(_ membership: Membership, at position: Int64, isInside: Bool) throws

  /// The newest position of a space and the sum of its rows; zero and empty for one that was never seen.
  func head(of space: SpaceID) throws -> (position: Int64, digest: SpaceDigest)
  func setHead(of space: SpaceID, position: Int64, digest: SpaceDigest) throws

  /// Notes the end of a sequencer run. One that gave no position changes nothing: the nonce of its end stays.
  func addRun(last: Int64, nonce: String) throws
  /// The nonce of the run that gave this position; nil if it is not known.
  func nonce(at position: Int64) throws -> String?

  /// Removes tombstones and lost memberships at or below a position, and the runs that no cursor above it can name.
  func removeTombstones(upTo position: Int64) throws
}

/// A receipt as it is stored.
package struct StoredReceipt: Hashable, Sendable {
  package var receipt: Receipt
  package var hash: [UInt8]

  package init(receipt: Receipt, hash: [UInt8]) {
    self.receipt = receipt
    self.hash = hash
  }
}

/// Verdicts, and the replicas that brought them about.
package protocol Receipts {
  /// The account that a replica belongs to; nil for one that is not known.
  func owner(of replica: ReplicaID) throws -> AccountID?
  /// Makes a replica known.
  func register(_ replica: ReplicaID, of user: AccountID) throws
  /// The number up to which the replica has published the receipts of its mutations.
  func settled(_ replica: ReplicaID) throws -> Int64
  /// Whether a receipt at or below the settled mark still has its reason.
  func hasUnshrunkReceipts(_ replica: ReplicaID, upTo number: Int64) throws -> Bool
  /// Moves the mark forward and reduces the receipts up to it to id, hash and outcome. A receipt is never forgotten while
  /// its replica is known.
  func settle(_ replica: ReplicaID, upTo number: Int64) throws

  func receipt(_ key: ReceiptKey) throws -> StoredReceipt?
  func insertReceipt(_ key: ReceiptKey, _ receipt: StoredReceipt) throws
  /// Whether a mutation of another account was confirmed under this id, so that rows may have it as their version.
  func isTaken(_ mutation: MutationID, byOtherThan user: AccountID) throws -> Bool
  /// The replicas that read this receipt.
  func homes(of key: ReceiptKey) throws -> [ReplicaID]
  /// Adds a replica; the sequencer gives the position.
  func addHome(_ replica: ReplicaID, of key: ReceiptKey) throws
  /// Gives a receipt its position in a replica's space.
  func setPosition(_ position: Int64, of key: ReceiptKey, in replica: ReplicaID) throws

  /// The mutation that a replica gave this number; nil if it is free.
  func mutation(_ replica: ReplicaID, number: Int64) throws -> MutationID?
  /// Notes the number, unless it is taken.
  func setMutation(_ replica: ReplicaID, number: Int64, _ mutation: MutationID) throws
}
