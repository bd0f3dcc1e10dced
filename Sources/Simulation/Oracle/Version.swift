// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// One step of one mutation, as it went into a row.
struct Ink: Hashable {
  let mutation: MutationID
  let step: Int
}

/// A row as one commit left it. Kept for ever, so that any copy of a row anywhere can be held against what was written.
final class Version {
  let key: RowKey
  let values: [Value]
  let tag: VersionTag
  let incarnation: Incarnation
  /// All that went into this life of the row, in order: "exactly once" is a question of sets then, not of sums.
  let ink: [Ink]
  /// Counts commits.
  let order: Int

  init(key: RowKey, values: [Value], tag: VersionTag, incarnation: Incarnation, ink: [Ink], order: Int) {
    self.key = key
    self.values = values
    self.tag = tag
    self.incarnation = incarnation
    self.ink = ink
    self.order = order
  }

  /// Whether it is what was read, in all columns of the last version.
  func says(_ values: [Value], _ tag: VersionTag, _ incarnation: Incarnation) -> Bool {
    self.tag == tag && self.incarnation == incarnation && self.values == values
  }
}

/// A row in the oracle's hands: read from a file, or being changed.
struct Row: Equatable {
  var values: [Value]
  var tag: VersionTag
  var incarnation: Incarnation
  var ink: [Ink] = []

  init(values: [Value], tag: VersionTag, incarnation: Incarnation, ink: [Ink] = []) {
    self.values = values
    self.tag = tag
    self.incarnation = incarnation
    self.ink = ink
  }

  init(_ version: Version) {
    self.init(values: version.values, tag: version.tag, incarnation: version.incarnation, ink: version.ink)
  }
}
