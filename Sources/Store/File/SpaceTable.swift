// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit

/// The spaces that the file has met: a small number for each, its generation mark, and the digest of its confirmed rows.
///
/// Cached by the transaction that uses it; `Store.transaction` throws the cache away when one fails.
final class SpaceTable {
  private let connection: SQLiteConnection
  private var ids: [SpaceID: Int64] = [:]
  private var names: [Int64: SpaceID] = [:]
  /// Items come in runs of one space.
  private var last: (space: SpaceID, id: Int64)?

  init(_ connection: SQLiteConnection) { self.connection = connection }

  func id(of space: SpaceID) throws -> Int64 {
    if let last, last.space == space { return last.id }
    if let known = ids[space] {
      last = (space, known)
      return known
    }
    let found = try connection.first("SELECT id FROM skerry_spaces WHERE name = ?", .text(space.text)) { $0.integer(0) }
    let id: Int64
    if let found {
      id = found
    } else {
      try connection.run(
        "INSERT INTO skerry_spaces(name, gen, old, sum, count) VALUES (?, 0, 0, ?, 0)", .text(space.text),
        .blob(SpaceDigest().bytes))
      id = connection.lastInsertedRow
    }
    ids[space] = id
    names[id] = space
    return id
  }

  func name(of id: Int64) throws -> SpaceID {
    if let known = names[id] { return known }
    let found = try connection.first("SELECT name FROM skerry_spaces WHERE id = ?", .integer(id)) {
      SpaceID($0.text(0))
    }
    guard let found else { throw StoreError(.damaged, "space number \(id) is not in skerry_spaces") }
    names[id] = found
    return found
  }

  /// All spaces that were ever met.
  func all() throws -> [SpaceID] {
    try connection.query("SELECT name FROM skerry_spaces ORDER BY name") { SpaceID($0.text(0)) }
  }

  /// Counts up with each refill: rows with an older mark are swept when the space is filled.
  func generation(_ id: Int64) throws -> Int64 {
    try connection.first("SELECT gen FROM skerry_spaces WHERE id = ?", .integer(id)) { $0.integer(0) } ?? 0
  }

  func raiseGeneration(_ space: SpaceID, rows: Int64) throws {
    try connection.run(
      "UPDATE skerry_spaces SET gen = gen + 1, old = ? WHERE id = ?", .integer(rows), .integer(try id(of: space)))
  }

  /// Notes that the space holds a row with an older mark.
  func noteOld(_ id: Int64) throws {
    try connection.run("UPDATE skerry_spaces SET old = max(old, 1) WHERE id = ?", .integer(id))
  }

  /// Whether the space held no row when its generation was last raised, and none with an older mark came since: then a sweep has nothing to look for.
  func beganEmpty(_ id: Int64) throws -> Bool {
    try connection.first("SELECT old FROM skerry_spaces WHERE id = ?", .integer(id)) { $0.integer(0) == 0 } ?? true
  }

  func digest(_ id: Int64) throws -> SpaceDigest {
    let found = try connection.first("SELECT sum, count FROM skerry_spaces WHERE id = ?", .integer(id)) {
      SpaceDigest(bytes: $0.blob(0), rows: $0.integer(1))
    }
    guard let digest = found ?? nil else { throw StoreError(.damaged, "digest of space number \(id)") }
    return digest
  }

  func setDigest(_ id: Int64, _ digest: SpaceDigest) throws {
    try connection.run(
      "UPDATE skerry_spaces SET sum = ?, count = ? WHERE id = ?", .blob(digest.bytes), .integer(digest.rows),
      .integer(id))
  }
}
