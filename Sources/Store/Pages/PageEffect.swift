// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// What taking in a page or a reset did.
package struct PageEffect: Sendable, Equatable {
  /// False when it was asked for with another cursor than the one the store has now; then nothing was changed.
  package var isApplied = false
  /// Whether the store is at a consistent point.
  package var isConsistent = false
  /// Mutations that got their outcome.
  package var settled: [MutationID] = []
  /// The codes of those that were refused.
  package var refusals: [RefusalCode?] = []
  /// Why everything is read anew; nil if it is not.
  package var reset: ResetReason?
  /// Whether entries that were held back can be offered now: they slept until a refill, or what they meant was not known.
  package var hasFreedEntries = false
  /// Spaces that the account has lost.
  package var lost: [SpaceID] = []
  /// Whether rows went because a space was lost or left.
  package var hasRemovedRows = false
  /// Tables with rows that changed.
  package var tables: Set<String> = []
  /// Spaces whose digest differs from the server's at this consistent point.
  package var mismatches: [SpaceID] = []
}
