// SPDX-License-Identifier: Apache-2.0
import SkerryModel

/// What the user knows: the test's own account of each write, kept outside of every process that may die.
///
/// Each write adds one bit of its own to the same counter, and most leave a row that is named after the bit. So the counter
/// tells which writes took effect, and one that did so twice, or by half, shows.
struct Ledger: Hashable, Sendable {
  /// Writes that returned, and their bits.
  var acknowledged: [MutationID: Int] = [:]
  /// The bits of all writes that were begun. One that never returned may have become durable all the same.
  var begun: Set<Int> = []
  /// Those that leave no row of their own.
  var unmarked: Set<Int> = []
  /// An edit in place that was begun: the old id and the new one, with the same bit.
  var edits: [MutationID: MutationID] = [:]
  /// Discards that were begun: the write may have its effect or not, if it was sent or the discard never returned.
  var mayVanish: Set<MutationID> = []
  /// Discards of writes that had never left the device, and that returned.
  var mustVanish: Set<MutationID> = []
  /// Refusals that the user has begun to acknowledge.
  var seen: Set<MutationID> = []
}
