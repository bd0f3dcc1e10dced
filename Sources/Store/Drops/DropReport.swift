// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

/// What became of the drops that were found.
public struct DropReport: Sendable {
  /// The mutations that are in the outbox by now, with their rows visible.
  public internal(set) var collected: [MutationID] = []
  /// What was set aside.
  public internal(set) var refused: [RefusedDrop] = []
  /// The names of files that a newer version of the app has dropped: they wait for this one to be updated.
  public internal(set) var waiting: [String] = []

  package init() {}

  /// Whether nothing was found.
  public var isEmpty: Bool { collected.isEmpty && refused.isEmpty && waiting.isEmpty }
}

/// A drop that could not be taken in. Its file is kept.
public struct RefusedDrop: Sendable {
  /// The path under which it is kept.
  public let path: String
  /// The mutation's id; nil if the file could not be read.
  public let id: MutationID?
  /// Why: `damaged` for a file that cannot be read, `otherSchema` for another app's, `otherAccount`; what `write` would have
  /// thrown for a change that does not fit the rows that are here.
  public let reason: StoreError
}
