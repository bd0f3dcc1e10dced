// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
import SkerrySQLiteKit

extension Store {
  /// Begins a refill: spaces that the user no longer has are dropped, the others are read again in place and swept when they
  /// are filled. The screen is never empty, and unsent work survives.
  ///
  /// Confirmed mutations that the server never called safe are offered again, in the order in which they were made. Their
  /// effects are still in the old base, so they sleep until the refill is published.
  package func apply(_ reset: Reset, asked: Cursor?) throws -> PageEffect {
    let effect = try transaction {
      guard asked == state.cursor, reset.cursor.owner == state.ids, reset.canAnswer(asked) else { return PageEffect() }
      let applier = try PageApplier(self)
      let kept = Set(reset.spaces)
      for space in try spaces.all() where !kept.contains(space) && !space.holdsReceipts {
        try applier.lose(space)
      }
      for space in reset.spaces { try applier.gain(space) }
      try offerArchiveAgain(applier.confirmed)
      answered.removeAll()
      try applier.clearStage()
      state.count = 0
      state.cursor = reset.cursor
      applier.effect.reset = reset.reason
      applier.decisions.add(.init(.reset, at: ambient.now(), rule: reset.reason.rawValue, count: reset.spaces.count))
      try applier.finish()
      return applier.effect
    }
    needsPurge = needsPurge || effect.hasRemovedRows
    purge()
    return effect
  }

  private func offerArchiveAgain(_ confirmed: ConfirmedRows) throws {
    let entries = try connection.query("SELECT made, subjects FROM skerry_archive ORDER BY made") {
      ($0.integer(0), try Subjects(encoded: $0.blob(1)))
    }
    for (made, subjects) in entries {
      state.counter += 1
      for key in subjects.touched { try confirmed.moveApart(key) }
      try connection.run(
        """
        INSERT INTO skerry_outbox(made, mid, n, ops, subjects, label, at, void, sent, dormant, failed, attempts, sum)
        SELECT made, mid, ?, ops, subjects, label, at, void, sent, 1, 0, 0, sum FROM skerry_archive WHERE made = ?
        """, .integer(state.counter), .integer(made))
      try subjects.sorted.index(made, on: connection)
    }
    try connection.run("DELETE FROM skerry_archive")
  }
}

extension Reset {
  /// Whether it can be the answer to a request with that cursor. Something on the way may repeat an older one: a first reset
  /// is for replicas without a cursor, and within an epoch no server that only expired things goes back.
  fileprivate func canAnswer(_ asked: Cursor?) -> Bool {
    guard let asked else { return true }
    switch reason {
    case .first: return false
    case .expired: return cursor.epoch != asked.epoch || cursor.head >= asked.head
    case .history: return true
    }
  }
}
