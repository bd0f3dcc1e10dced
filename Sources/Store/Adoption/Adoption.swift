// SPDX-License-Identifier: Apache-2.0

/// What is known of rows that an app brings along.
public enum AdoptionMode: Sendable, Equatable {
  /// They came from the server by another way, before Skerry. They are shown at once, as not confirmed, and nothing of them is
  /// sent: the first sync confirms or replaces each, and takes away what the server does not have.
  case alreadyOnServer
  /// The server does not have them. They are inserted by ordinary mutations of at most so many rows each; a mutation that would
  /// be too large for a message has fewer.
  case unsent(batch: Int)
}

/// What became of the rows that were adopted.
public struct Adoption: Sendable, Equatable {
  /// Rows that are here now and were not before.
  public internal(set) var added = 0
  /// Rows that were here already, with the same values.
  public internal(set) var unchanged = 0
  /// Rows of which Skerry has other values, or that were deleted in Skerry: what Skerry has stays.
  public internal(set) var differing = 0
  /// Rows that an earlier call under the same name dealt with, before its process died.
  public internal(set) var resumed = 0
  /// Rows given as already on the server after a sync has shown that it does not have them for this account; they are left out.
  public internal(set) var late = 0
  /// Whether an earlier call under the same name had come to its end: then nothing was read, and nothing was done.
  public internal(set) var wasDone = false

  /// The rows that were given.
  public var rows: Int { added + unchanged + differing + resumed + late }

  package init() {}

  package static var done: Adoption {
    var out = Adoption()
    out.wasDone = true
    return out
  }

  package mutating func add(_ other: Adoption) {
    added += other.added
    unchanged += other.unchanged
    differing += other.differing
    resumed += other.resumed
    late += other.late
  }
}

/// A row that cannot be adopted. The rows of earlier batches stay; of its own batch none was taken.
public struct AdoptionError: Error, Sendable, CustomStringConvertible {
  /// The row's place among those that were given, from 1.
  public let row: Int
  /// Why: `invalid` for values that do not fit the schema, `constraint` for a unique index or for a row that it refers to and
  /// that is not here.
  public let cause: StoreError

  package init(row: Int, _ cause: StoreError) {
    self.row = row
    self.cause = cause
  }

  /// Place and cause in one line, without values.
  public var description: String { "row \(row): \(cause)" }
}
