// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit

/// Rows that an app brought along as already on the server, until the first sync has said so: guesses.
///
/// A guess stands where a confirmed row would (in the app's table, or in `skerry_base` while the outbox touches it), but in no
/// space: no digest counts it, and no sweep of a space meets it. `skerry_guesses` lists them, which tells them from a row whose
/// page is held. There are none any more once the store has been in step with the server.
enum Guesses {
  /// The state in the hidden column; a confirmed row has 0, one that the outbox touches 1.
  static let state: Int64 = 2

  static let hidden: [SQLiteValue] = [.null, .null, .integer(state)]

  static func contains(_ key: RowKey, _ connection: SQLiteConnection) throws -> Bool {
    try connection.first("SELECT 1 FROM skerry_guesses WHERE tbl = ? AND key = ?", .text(key.table), .blob(key.bytes)) {
      _ in true
    } ?? false
  }

  static func add(_ key: RowKey, _ connection: SQLiteConnection) throws {
    try connection.run("INSERT INTO skerry_guesses(tbl, key) VALUES (?, ?)", .text(key.table), .blob(key.bytes))
  }

  static func remove(_ key: RowKey, _ connection: SQLiteConnection) throws {
    try connection.run("DELETE FROM skerry_guesses WHERE tbl = ? AND key = ?", .text(key.table), .blob(key.bytes))
  }

  static func all(_ connection: SQLiteConnection) throws -> [RowKey] {
    try connection.query("SELECT tbl, key FROM skerry_guesses") { try RowKey(table: $0.text(0), bytes: $0.blob(1)) }
  }

  /// How many there are in a table, or in all; 0 in a file that is older than they are.
  static func count(in table: String? = nil, _ connection: SQLiteConnection) throws -> Int64 {
    guard try connection.hasTable("skerry_guesses") else { return 0 }
    return try connection.first(
      "SELECT count(*) FROM skerry_guesses WHERE ?1 IS NULL OR tbl = ?1", table.map { .text($0) } ?? .null
    ) { $0.integer(0) } ?? 0
  }

  /// A version that no mutation and no other program gives: it stands for one that is not known yet.
  static func version(of key: RowKey) -> VersionTag {
    let hash = SHA256.hash(Array("skerry guess \(key.table)".utf8) + [0] + key.bytes)
    func word(_ start: Int) -> UInt64 { hash[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    // The form of a write that is no mutation's.
    let high = word(0) & ~0xF000 | 0x8000
    return VersionTag(raw: Bytes16(high: high, low: 0x8000_0000_0000_0000 | word(8) >> 2))
  }

  static func state(_ values: [Value], _ key: RowKey) -> RowState {
    let version = version(of: key)
    return RowState(values: values, version: version, incarnation: Incarnation(tag: version, index: 0))
  }
}

extension SQLiteConnection {
  /// Whether a file that is only looked into has a table: an earlier version of this library may have made it.
  func hasTable(_ name: String) throws -> Bool {
    try first("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?", .text(name)) { _ in true } ?? false
  }
}

extension Store {
  /// The server has the row of a guess: edits of the guess are edits of that row from now on. They were held back until now,
  /// so no copy of them is on its way.
  ///
  /// In a table that checks versions, an edit has seen the row only if the guess was right.
  ///
  /// - Returns: whether there were any.
  func confirm(guess: RowState, of key: RowKey, by row: RowState) throws -> Bool {
    let entries = try connection.query(
      """
      SELECT made, ops FROM skerry_outbox
      WHERE made IN (SELECT made FROM skerry_subjects WHERE tbl = ? AND key = ? AND role > 0)
      """, .text(key.table), .blob(key.bytes)
    ) { ($0.integer(0), try Operation.decode($0.blob(1))) }
    for (made, old) in entries {
      let new = old.map { operation in
        guard operation.key == key, operation.incarnation == guess.incarnation else { return operation }
        var action = operation.action
        if case .set(let fields, let base?) = action, base == guess.version, guess.values == row.values {
          action = .set(fields, base: row.version)
        }
        return Operation(key, row.incarnation, action, place: operation.place)
      }
      if new == old { continue }
      try connection.run(
        "UPDATE skerry_outbox SET ops = ? WHERE made = ?", .blob(Operation.encode(new)), .integer(made))
      try EntrySum.refresh(made, on: connection)
    }
    return !entries.isEmpty
  }
}
