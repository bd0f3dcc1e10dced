// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit

/// What the file knows of itself: one row, read at open and written with each transaction that changes it.
struct ReplicaState: Equatable {
  /// All ids that this file has had; the last is in use. A copy that is found in use elsewhere gets another, and goes on
  /// reading the receipts of the old ones.
  var ids: [ReplicaID]
  /// The newest number given to a mutation under the current id.
  var counter: Int64 = 0
  /// The newest place given in the order in which mutations were made here; never given twice.
  var made: Int64 = 0
  var cursor: Cursor?
  /// Whether a catch-up above the bound is being published page by page.
  var isLong = false
  /// The items of the catch-up so far.
  var count: Int64 = 0
  /// How often a digest differed from the server's.
  var mismatches: Int64 = 0
  /// When the store last reached a consistent point, by the device's clock; nil before the first.
  var syncedAt: Int64?

  var id: ReplicaID { ids[ids.count - 1] }
}

extension ReplicaState {
  static func read(from connection: SQLiteConnection) throws -> ReplicaState? {
    try connection.first(
      "SELECT ids, counter, made, cursor, long, count, mismatches, synced FROM skerry_state"
    ) { row in
      let ids = row.text(0).split(separator: " ").map { ReplicaID(String($0)) }
      guard !ids.isEmpty else { throw StoreError(.damaged, "skerry_state names no replica id") }
      var cursor: Cursor?
      if !row.isNull(3) {
        do { cursor = try Cursor(encoded: row.blob(3)) } catch {
          throw StoreError(.damaged, "skerry_state holds a cursor that cannot be read: \(error)")
        }
      }
      return ReplicaState(
        ids: ids, counter: row.integer(1), made: row.integer(2), cursor: cursor, isLong: row.integer(4) != 0,
        count: row.integer(5), mismatches: row.integer(6), syncedAt: row.isNull(7) ? nil : row.integer(7))
    }
  }

  func write(to connection: SQLiteConnection) throws {
    try connection.run(
      """
      UPDATE skerry_state SET ids = ?, counter = ?, made = ?, cursor = ?, long = ?, count = ?, mismatches = ?, synced = ?
      """, .text(ids.map(\.text).joined(separator: " ")), .integer(counter), .integer(made),
      cursor.map { .blob($0.encoded) } ?? .null, .integer(isLong ? 1 : 0), .integer(count), .integer(mismatches),
      syncedAt.map { .integer($0) } ?? .null)
  }
}
