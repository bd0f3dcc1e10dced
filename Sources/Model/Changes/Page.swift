// SPDX-License-Identifier: Apache-2.0

/// One line of a page.
package enum PageItem: Hashable, Sendable {
  /// The user may see this space from now on; its rows follow.
  case gain(SpaceID)
  /// The user may no longer see this space.
  case lose(SpaceID)
  /// A row as it is in a space.
  case put(SpaceID, RowImage)
  /// A row left the space and lives on elsewhere; `still` names the user's spaces that hold it.
  case left(SpaceID, RowKey, still: [SpaceID])
  /// A row is no more.
  case deleted(SpaceID, RowKey)
  /// All rows of a space that was being filled have been sent.
  case filled(SpaceID)
  /// The verdict on one of the replica's mutations.
  case receipt(SpaceID, Receipt)
}

/// A part of the change log as one user may see it, and the cursor that describes it.
package struct Page: Hashable, Sendable {
  package var items: [PageItem]
  package var cursor: Cursor
  /// Whether it ends at a consistent point: it reaches the newest sequencer run and nothing was committed since.
  package var closes: Bool
  /// Mutations whose receipts are at or below this position are safe in the server's backup.
  package var safe: Int64
  /// On a closing page: what the user's spaces add up to at that point, for those that changed since the cursor.
  package var digests: [SpaceID: SpaceDigest]

  package init(
    items: [PageItem], cursor: Cursor, closes: Bool, safe: Int64, digests: [SpaceID: SpaceDigest] = [:]
  ) {
    self.items = items
    self.cursor = cursor
    self.closes = closes
    self.safe = safe
    self.digests = digests
  }
}

/// Why a cursor cannot be served by a delta.
package enum ResetReason: String, Sendable {
  /// The replica has no cursor yet.
  case first
  /// The deletions that it has not seen are no longer kept.
  case expired
  /// The cursor belongs to another history: the database was restored, or its tail was lost.
  case history
}

/// Begins a refill: the spaces that the user has now; every other one is to be dropped.
package struct Reset: Hashable, Sendable {
  package var reason: ResetReason
  package var spaces: [SpaceID]
  package var cursor: Cursor

  package init(reason: ResetReason, spaces: [SpaceID], cursor: Cursor) {
    self.reason = reason
    self.spaces = spaces
    self.cursor = cursor
  }
}
