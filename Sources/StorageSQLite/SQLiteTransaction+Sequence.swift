// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables

extension SQLiteTransaction: Captures {
  func hasCaptures() throws -> Bool {
    try connection.first("SELECT 1 FROM skerry_captures LIMIT 1") { _ in true } ?? false
  }

  func captures() throws -> [Capture] {
    try connection.query("SELECT n, tbl, key FROM skerry_captures ORDER BY n") { row in
      let key = try key(row.text(1), row.text(2))
      if key.table != ServerSchema.receiptTable { return Capture(number: row.integer(0), subject: .row(key)) }
      guard let receipt = ReceiptKey(key) else { throw StorageError.damaged("receipt key \(row.text(2))") }
      return Capture(number: row.integer(0), subject: .receipt(receipt))
    }
  }

  func captureReceipt(_ receipt: ReceiptKey) throws {
    try connection.run(
      "INSERT INTO skerry_captures(tbl, key, op, tag) VALUES (?, ?, 0, ?)", .text(ServerSchema.receiptTable),
      receipt.rowKey.text,
      .blob(receipt.mutation.raw.bytes))
  }

  func removeCaptures(_ numbers: [Int64]) throws {
    for number in numbers { try connection.run("DELETE FROM skerry_captures WHERE n = ?", .integer(number)) }
  }
}

extension SQLiteTransaction: SequencedRows {
  func sequenced(_ key: RowKey) throws -> SequencedRow? {
    let found = try connection.first(
      "SELECT spaces, hash, members FROM skerry_rows WHERE tbl = ? AND key = ? AND spaces IS NOT NULL", key.tableName,
      key.text
    ) { ($0.blob(0), $0.blob(1), $0.blob(2)) }
    guard let (spaces, hash, members) = found else { return nil }
    guard let hash = RowHash(bytes: hash), let names = try? texts(spaces), let pairs = try? texts(members) else {
      throw StorageError.damaged("header of \(key)")
    }
    let memberships = stride(from: 0, to: pairs.count - 1, by: 2).map {
      Membership(user: AccountID(pairs[$0]), space: SpaceID(pairs[$0 + 1]))
    }
    return SequencedRow(spaces: Set(names.map { SpaceID($0) }), hash: hash, memberships: memberships)
  }

  func setSequenced(_ key: RowKey, _ row: SequencedRow?) throws {
    guard let row else {
      try connection.run("DELETE FROM skerry_rows WHERE tbl = ? AND key = ?", key.tableName, key.text)
      return
    }
    let spaces = row.spaces.sorted().map { Value.text($0.text) }
    let members = row.memberships.flatMap { [Value.text($0.user.text), .text($0.space.text)] }
    try connection.run(
      "UPDATE skerry_rows SET spaces = ?, hash = ?, members = ? WHERE tbl = ? AND key = ?", .blob(encoded(spaces)),
      .blob(row.hash.bytes), .blob(encoded(members)), key.tableName, key.text)
  }

  private func encoded(_ values: [Value]) -> [UInt8] {
    var writer = CBORWriter()
    writer.values(values)
    return writer.bytes
  }

  private func texts(_ bytes: [UInt8]) throws(CBORError) -> [String] {
    var reader = CBORReader(bytes)
    return try reader.values().compactMap(\.text)
  }
}

extension SQLiteTransaction: ChangeLog {
  func history() throws -> History {
    let found = try connection.first("SELECT epoch, head, floor, safe, schema FROM skerry_history") { row in
      guard row.blob(4) == fingerprint else {
        throw StorageError.otherSchema(
          "another server has opened the database with a later version of the schema; end this one")
      }
      return History(epoch: row.text(0), head: row.integer(1), floor: row.integer(2), safe: row.integer(3))
    }
    guard let found else { throw StorageError.damaged("skerry_history is empty") }
    return found
  }

  func setHistory(_ history: History) throws {
    try connection.run(
      "UPDATE skerry_history SET epoch = ?, head = ?, floor = ?, safe = ?", .text(history.epoch),
      .integer(history.head), .integer(history.floor), .integer(history.safe))
  }

  func setEntry(_ space: SpaceID, _ key: RowKey, at position: Int64, _ kind: EntryKind) throws {
    try connection.run(
      """
      INSERT INTO skerry_log(space, tbl, key, pos, kind) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT(space, tbl, key) DO UPDATE SET pos = excluded.pos, kind = excluded.kind
      """, .integer(try id(of: space)), key.tableName, key.text, .integer(position), .integer(kind.rawValue))
  }

  func entries(in space: SpaceID, after position: Int64, limit: Int) throws -> [LogEntry] {
    if space.holdsReceipts { return try receiptEntries(ReplicaID(String(space.id)), after: position, limit: limit) }
    guard let id = try knownID(of: space) else { return [] }
    return try connection.query(
      "SELECT pos, tbl, key, kind FROM skerry_log WHERE space = ? AND pos > ? ORDER BY pos LIMIT ?", .integer(id),
      .integer(position), .integer(Int64(limit))
    ) { row in
      guard let kind = EntryKind(rawValue: row.integer(3)) else { throw StorageError.damaged("log of \(space)") }
      return LogEntry(position: row.integer(0), subject: .row(try key(row.text(1), row.text(2))), kind: kind)
    }
  }

  func liveSubjects(in space: SpaceID, after key: RowKey?, target: Int64, limit: Int) throws -> [Capture.Subject] {
    if space.holdsReceipts { return try receipts(ReplicaID(String(space.id)), after: key, limit: limit) }
    guard let id = try knownID(of: space) else { return [] }
    return try connection.query(
      """
      SELECT tbl, key FROM skerry_log WHERE space = ? AND (tbl, key) > (?, ?) AND kind = 0 AND pos <= ?
      ORDER BY tbl, key LIMIT ?
      """, .integer(id), key?.tableName ?? "", key?.text ?? "", .integer(target), .integer(Int64(limit))
    ) { .row(try self.key($0.text(0), $0.text(1))) }
  }

  func memberships(of user: AccountID) throws -> [MembershipEntry] {
    try connection.query(
      "SELECT space, pos, inside FROM skerry_members WHERE user = ? ORDER BY pos", .text(user.text)
    ) { MembershipEntry(space: SpaceID($0.text(0)), position: $0.integer(1), isInside: $0.integer(2) != 0) }
  }

  func membership(_ membership: Membership) throws -> MembershipEntry? {
    try connection.first(
      "SELECT pos, inside FROM skerry_members WHERE user = ? AND space = ?", .text(membership.user.text),
      .text(membership.space.text)
    ) { MembershipEntry(space: membership.space, position: $0.integer(0), isInside: $0.integer(1) != 0) }
  }

  func setMembership(_ membership: Membership, at position: Int64, isInside: Bool) throws {
    try connection.run(
      """
      INSERT INTO skerry_members(user, space, pos, inside) VALUES (?, ?, ?, ?)
      ON CONFLICT(user, space) DO UPDATE SET pos = excluded.pos, inside = excluded.inside
      """, .text(membership.user.text), .text(membership.space.text), .integer(position), .integer(isInside ? 1 : 0))
  }

  func head(of space: SpaceID) throws -> (position: Int64, digest: SpaceDigest) {
    try connection.first("SELECT head, sum, count FROM skerry_spaces WHERE name = ?", .text(space.text)) { row in
      guard let digest = SpaceDigest(bytes: row.blob(1), rows: row.integer(2)) else {
        throw StorageError.damaged("digest of \(space)")
      }
      return (row.integer(0), digest)
    } ?? (0, SpaceDigest())
  }

  func setHead(of space: SpaceID, position: Int64, digest: SpaceDigest) throws {
    try connection.run(
      "UPDATE skerry_spaces SET head = ?, sum = ?, count = ? WHERE id = ?", .integer(position), .blob(digest.bytes),
      .integer(digest.rows), .integer(try id(of: space)))
  }

  func addRun(last: Int64, nonce: String) throws {
    // A run that gave no position leaves the nonce of the one before: cursors name it.
    try connection.run("INSERT OR IGNORE INTO skerry_runs(last, nonce) VALUES (?, ?)", .integer(last), .text(nonce))
  }

  func nonce(at position: Int64) throws -> String? {
    try connection.first(
      "SELECT nonce FROM skerry_runs WHERE last >= ? ORDER BY last LIMIT 1", .integer(position)
    ) { $0.text(0) }
  }

  func removeTombstones(upTo position: Int64) throws {
    try connection.run("DELETE FROM skerry_log WHERE kind <> 0 AND pos <= ?", .integer(position))
    try connection.run("DELETE FROM skerry_members WHERE inside = 0 AND pos <= ?", .integer(position))
    try connection.run("DELETE FROM skerry_runs WHERE last < ?", .integer(position))
  }
}
