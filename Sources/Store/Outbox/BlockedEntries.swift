// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit

/// Which outbox entries cannot be judged before somebody takes up one that was set aside, or before it is known which row of the
/// server's a guess stands for.
///
/// An entry waits for each earlier one that begins or changes what it has to do with, and if it changes or ends something,
/// also for those that lean on it: the order of `Predecessors`, followed to its end in one pass from the oldest entry on.
struct BlockedEntries {
  /// By `made`, those set aside included.
  private(set) var found: Set<Int64> = []
  /// What blocked entries have to do with, and whether one of them begins or changes it.
  private var held: [RowKey: Bool] = [:]

  /// - Returns: nil if nothing is set aside, and there are no guesses.
  init?(on connection: SQLiteConnection) throws {
    func holds(_ condition: String) throws -> Bool {
      try connection.first("SELECT 1 FROM \(condition) LIMIT 1") { _ in true } ?? false
    }
    let hasGuesses = try holds("skerry_guesses")
    guard try hasGuesses || holds("skerry_outbox WHERE failed = 1") else { return nil }
    _ = try connection.query("SELECT made, failed, subjects FROM skerry_outbox ORDER BY made") { row in
      let subjects = try Subjects(encoded: row.blob(2)).sorted.all
      let meansGuess = try hasGuesses && subjects.contains { try $1 > .leans && Guesses.contains($0, connection) }
      take(row.integer(0), row.integer(1) != 0 || meansGuess, subjects)
    }
  }

  private mutating func take(_ made: Int64, _ isSetAside: Bool, _ subjects: [(key: RowKey, value: Role)]) {
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
