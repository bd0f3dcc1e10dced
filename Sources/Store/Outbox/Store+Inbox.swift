// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
import SkerrySQLiteKit

extension Store {
  /// The refusals that nobody has acknowledged, oldest first.
  package func rejections() throws -> [Rejection] { try Rejection.all(on: connection) }

  /// Removes a refusal that a person has seen.
  package func acknowledge(_ id: MutationID) throws {
    try transaction { try connection.run("DELETE FROM skerry_inbox WHERE mid = ?", .blob(id.raw.bytes)) }
  }

  /// The spaces that this account has lost since, and nobody has acknowledged.
  package func lostSpaces() throws -> [SpaceID] {
    try connection.query("SELECT space FROM skerry_lost ORDER BY space") { SpaceID($0.text(0)) }
  }

  package func acknowledgeLoss(of space: SpaceID) throws {
    try transaction { try connection.run("DELETE FROM skerry_lost WHERE space = ?", .text(space.text)) }
  }

  /// The digest of the confirmed rows of each space, as it is kept with every change.
  package func digests() throws -> [SpaceID: SpaceDigest] {
    var out: [SpaceID: SpaceDigest] = [:]
    for space in try spaces.all() where !space.holdsReceipts { out[space] = try spaces.digest(spaces.id(of: space)) }
    return out
  }

  /// The ids of the confirmed mutations that the server has not called safe.
  package func archived() throws -> [MutationID] {
    try connection.query("SELECT mid FROM skerry_archive ORDER BY made") { MutationID(bytes: $0.blob(0)) }
      .compactMap { $0 }
  }
}

extension Rejection {
  /// All that a file holds, oldest first.
  static func all(on connection: SQLiteConnection) throws -> [Rejection] {
    try connection.query("SELECT mid, outcome, code, reason, ops, label, at FROM skerry_inbox ORDER BY made") { row in
      guard let id = MutationID(bytes: row.blob(0)), let outcome = Outcome(rawValue: row.text(1)),
        let operations = try? Operation.decode(row.blob(4))
      else { throw StoreError(.damaged, "an entry of skerry_inbox") }
      return Rejection(
        id: id, outcome: outcome, code: row.isNull(2) ? nil : RefusalCode(row.text(2)),
        reason: row.isNull(3) ? nil : row.text(3), operations: operations, label: row.isNull(5) ? nil : row.text(5),
        at: row.integer(6))
    }
  }
}
