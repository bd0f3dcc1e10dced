// SPDX-License-Identifier: Apache-2.0

public import SkerryModel
public import SkerryRecords
import SkerrySQLiteKit
import SkerryTables

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
  private static let select = "SELECT mid, outcome, code, reason, ops, label, at FROM skerry_inbox ORDER BY made"

  /// All that a file holds, oldest first.
  static func all(on connection: SQLiteConnection) throws -> [Rejection] {
    try connection.query(select) { try Rejection($0.modelValues(0..<7)) }
  }

  /// Reads the values of `select`.
  private init(_ values: [Value]) throws {
    guard case .blob(let mid) = values[0], let id = MutationID(bytes: mid), case .blob(let encoded) = values[4],
      let outcome = values[1].text.flatMap(Outcome.init(rawValue:)), let operations = try? Operation.decode(encoded)
    else { throw StoreError(.damaged, "an entry of skerry_inbox") }
    self.init(
      id: id, outcome: outcome, code: values[2].text.map { RefusalCode($0) }, reason: values[3].text,
      operations: operations, label: values[5].text, at: values[6].integer ?? 0)
  }

  fileprivate static var query: Query<Rejection> { Query(SQL(trusted: select)) { try Rejection($0.values) } }
}

extension Query where Element == Rejection {
  /// What the server refused and nobody has acknowledged, oldest first.
  public static var rejections: Query { Rejection.query }
}

extension Query where Element == SpaceID {
  /// Spaces that the account has lost and nobody has acknowledged.
  public static var lostSpaces: Query {
    Query("SELECT space FROM skerry_lost ORDER BY space") { SpaceID($0.values[0].text ?? "") }
  }
}
