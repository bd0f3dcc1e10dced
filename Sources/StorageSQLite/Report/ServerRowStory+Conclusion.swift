// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore

extension ServerRowStory {
  /// Why the row looks as it does, in one sentence without values.
  package var conclusion: String { isThere ? there : absent }

  private var there: String {
    if row == nil { return "there, and never captured: the server must be started once more to adopt it" }
    if !waiting.isEmpty { return "there, its newest change waits for the sequencer and has no position yet" }
    let spaces = sequencedSpaces ?? []
    if spaces.isEmpty { return "there, and in no space: no device can see it" }
    let position = entries.filter { $0.kind == .live }.map(\.position).max() ?? 0
    return "there, in \(spaces.map(\.text).joined(separator: ", ")), last changed at position \(position)"
  }

  private var absent: String {
    if !waiting.isEmpty { return "not there: its end waits for the sequencer and has no position yet" }
    if let tombstone = entries.filter({ $0.kind == .deleted }).map(\.position).max() {
      return "not there: deleted at position \(tombstone), and a tombstone tells the devices"
    }
    if let left = entries.filter({ $0.kind == .left }).map(\.position).max() {
      return "not there: it left its spaces at position \(left) and ended in none"
    }
    if history.floor > 0 {
      return "not there: it never was, or was deleted before the floor at position \(history.floor)"
    }
    return "not there, and never was: no tombstone has been removed yet"
  }
}
