// SPDX-License-Identifier: Apache-2.0

import SkerrySQLiteKit

/// Which outbox entries cannot be judged before somebody takes up one that was set aside, or before it is known which row of the
/// server's a guess stands for.
///
/// An entry waits for each earlier one that begins or changes what it has to do with, and if it changes or ends something,
/// also for those that lean on it: the order of `Predecessors`, followed to its end in one pass from the oldest entry on.
struct BlockedEntries {
  private struct Subject: Hashable {
    let table: String
    let key: [UInt8]
  }

  /// By `made`, those set aside included.
  private(set) var found: Set<Int64> = []
  /// What blocked entries have to do with, and whether one of them begins or changes it.
  private var held: [Subject: Bool] = [:]

  /// - Returns: nil if nothing is set aside, and there are no guesses.
  init?(on connection: SQLiteConnection) throws {
    let holdsAny =
      try connection.first(
        "SELECT 1 FROM skerry_outbox WHERE failed = 1 UNION ALL SELECT 1 FROM skerry_guesses LIMIT 1"
      ) { _ in true } ?? false
    guard holdsAny else { return nil }
    var entry: (made: Int64, isSetAside: Bool, subjects: [(Subject, Role)])?
    _ = try connection.query(
      """
      SELECT own.made, failed OR EXISTS (
          SELECT 1 FROM skerry_subjects AS meant JOIN skerry_guesses AS guess
            ON guess.tbl = meant.tbl AND guess.key = meant.key
          WHERE meant.made = own.made AND meant.role > 0), own.tbl, own.key, role
      FROM skerry_subjects AS own
      JOIN skerry_outbox AS entry ON entry.made = own.made ORDER BY own.made
      """
    ) { row in
      let subject = Subject(table: row.text(2), key: row.blob(3))
      guard let role = Role(rawValue: row.integer(4)) else { throw StoreError(.damaged, "role of \(subject)") }
      if let last = entry, last.made != row.integer(0) {
        take(last.made, last.isSetAside, last.subjects)
        entry = nil
      }
      if entry == nil { entry = (row.integer(0), row.integer(1) != 0, []) }
      entry?.subjects.append((subject, role))
    }
    if let entry { take(entry.made, entry.isSetAside, entry.subjects) }
  }

  private mutating func take(_ made: Int64, _ isSetAside: Bool, _ subjects: [(Subject, Role)]) {
    let isBlocked =
      isSetAside
      || subjects.contains { subject, role in
        guard let isChanged = held[subject] else { return false }
        return isChanged || role == .changes
      }
    guard isBlocked else { return }
    found.insert(made)
    for (subject, role) in subjects { held[subject] = role > .leans || held[subject] == true }
  }
}
