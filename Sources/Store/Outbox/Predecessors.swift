// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit

/// What each outbox entry must wait for, by what the entries touch and lean on; looked up at each sending.
struct Predecessors {
  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// The entries that must be settled before this one may be judged. The nearest are enough: each names its own.
  func of(_ made: Int64) throws -> [MutationID] {
    var found: Set<Int64> = []
    for (subject, role) in try Subjects.of(made, on: connection).sorted.all {
      let (table, key) = (SQLiteValue.text(subject.table), SQLiteValue.blob(subject.bytes))
      if let writer = try nearest(table, key, before: made, atLeast: .opens) { found.insert(writer) }
      guard role == .changes else { continue }
      let since = try nearest(table, key, before: made, atLeast: .changes) ?? -1
      found.formUnion(
        try connection.query(
          "SELECT made FROM skerry_subjects WHERE tbl = ? AND key = ? AND made > ? AND made < ? AND role = 0", table,
          key, .integer(since), .integer(made)
        ) { $0.integer(0) })
    }
    return try found.sorted().compactMap { made in
      try connection.first("SELECT mid FROM skerry_outbox WHERE made = ?", .integer(made)) {
        MutationID(bytes: $0.blob(0))
      } ?? nil
    }
  }

  private func nearest(
    _ table: SQLiteValue, _ key: SQLiteValue, before made: Int64, atLeast role: Role
  ) throws -> Int64? {
    try connection.first(
      """
      SELECT made FROM skerry_subjects WHERE tbl = ? AND key = ? AND made < ? AND role >= ? ORDER BY made DESC LIMIT 1
      """, table, key, .integer(made), .integer(role.rawValue)
    ) { $0.integer(0) }
  }
}
