// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore

extension SQLiteTransaction: Receipts {
  func owner(of replica: ReplicaID) throws -> AccountID? {
    try connection.first("SELECT user FROM skerry_replicas WHERE replica = ?", .text(replica.text)) {
      AccountID($0.text(0))
    }
  }

  func register(_ replica: ReplicaID, of user: AccountID) throws {
    try connection.run(
      "INSERT INTO skerry_replicas(replica, user, settled) VALUES (?, ?, 0)", .text(replica.text), .text(user.text))
  }

  func settled(_ replica: ReplicaID) throws -> Int64 {
    try connection.first("SELECT settled FROM skerry_replicas WHERE replica = ?", .text(replica.text)) {
      $0.integer(0)
    } ?? 0
  }

  func hasUnshrunkReceipts(_ replica: ReplicaID, upTo number: Int64) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM skerry_numbers WHERE replica = ? AND n <= ? AND shrunk = 0 LIMIT 1", .text(replica.text),
      .integer(number)
    ) { _ in true } ?? false
  }

  func settle(_ replica: ReplicaID, upTo number: Int64) throws {
    guard try number > settled(replica) || hasUnshrunkReceipts(replica, upTo: number) else { return }
    try connection.run(
      "UPDATE skerry_replicas SET settled = max(settled, ?) WHERE replica = ?", .integer(number), .text(replica.text))
    try connection.run(
      """
      UPDATE skerry_receipts SET code = NULL, reason = NULL
      WHERE user = (SELECT user FROM skerry_replicas WHERE replica = ?1)
        AND mid IN (SELECT mid FROM skerry_numbers WHERE replica = ?1 AND n <= ?2 AND shrunk = 0)
      """, .text(replica.text), .integer(number))
    try connection.run(
      "UPDATE skerry_numbers SET shrunk = 1 WHERE replica = ? AND n <= ? AND shrunk = 0", .text(replica.text),
      .integer(number))
  }

  func receipt(_ key: ReceiptKey) throws -> StoredReceipt? {
    try connection.first(
      "SELECT hash, outcome, code, reason FROM skerry_receipts WHERE user = ? AND mid = ?", .text(key.user.text),
      .blob(key.mutation.raw.bytes)
    ) { row in
      guard let outcome = Outcome(rawValue: row.text(1)) else { throw StorageError.damaged("receipt \(key.mutation)") }
      let receipt = Receipt(
        id: key.mutation, outcome: outcome, code: row.isNull(2) ? nil : RefusalCode(row.text(2)),
        reason: row.isNull(3) ? nil : row.text(3))
      return StoredReceipt(receipt: receipt, hash: row.blob(0))
    }
  }

  func insertReceipt(_ key: ReceiptKey, _ stored: StoredReceipt) throws {
    try connection.run(
      "INSERT INTO skerry_receipts(user, mid, hash, outcome, code, reason) VALUES (?, ?, ?, ?, ?, ?)",
      .text(key.user.text), .blob(key.mutation.raw.bytes), .blob(stored.hash),
      .text(stored.receipt.outcome.rawValue), stored.receipt.code.map { .text($0.text) } ?? .null,
      stored.receipt.reason.map { .text($0) } ?? .null)
  }

  func isTaken(_ mutation: MutationID, byOtherThan user: AccountID) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM skerry_receipts WHERE mid = ? AND user <> ? AND outcome = ? LIMIT 1",
      .blob(mutation.raw.bytes), .text(user.text), .text(Outcome.confirmed.rawValue)
    ) { _ in true } ?? false
  }

  func homes(of key: ReceiptKey) throws -> [ReplicaID] {
    try connection.query(
      "SELECT replica FROM skerry_homes WHERE user = ? AND mid = ? ORDER BY replica", .text(key.user.text),
      .blob(key.mutation.raw.bytes)
    ) { ReplicaID($0.text(0)) }
  }

  func addHome(_ replica: ReplicaID, of key: ReceiptKey) throws {
    try connection.run(
      "INSERT OR IGNORE INTO skerry_homes(replica, user, mid, pos) VALUES (?, ?, ?, 0)", .text(replica.text),
      .text(key.user.text), .blob(key.mutation.raw.bytes))
  }

  func setPosition(_ position: Int64, of key: ReceiptKey, in replica: ReplicaID) throws {
    try connection.run(
      "UPDATE skerry_homes SET pos = ? WHERE replica = ? AND user = ? AND mid = ?", .integer(position),
      .text(replica.text), .text(key.user.text), .blob(key.mutation.raw.bytes))
  }

  func mutation(_ replica: ReplicaID, number: Int64) throws -> MutationID? {
    try connection.first(
      "SELECT mid FROM skerry_numbers WHERE replica = ? AND n = ?", .text(replica.text), .integer(number)
    ) { row in
      guard let id = MutationID(bytes: row.blob(0)) else {
        throw StorageError.damaged("number \(number) of \(replica)")
      }
      return id
    }
  }

  func setMutation(_ replica: ReplicaID, number: Int64, _ mutation: MutationID) throws {
    try connection.run(
      "INSERT OR IGNORE INTO skerry_numbers(replica, n, mid, shrunk) VALUES (?, ?, ?, 0)", .text(replica.text),
      .integer(number), .blob(mutation.raw.bytes))
  }

  /// The sequenced receipts of a replica that moved after a position.
  func receiptEntries(_ replica: ReplicaID, after position: Int64, limit: Int) throws -> [LogEntry] {
    try connection.query(
      "SELECT pos, user, mid FROM skerry_homes WHERE replica = ? AND pos > ? ORDER BY pos LIMIT ?",
      .text(replica.text), .integer(position), .integer(Int64(limit))
    ) { row in
      LogEntry(position: row.integer(0), subject: .receipt(try receiptKey(row.text(1), row.blob(2))), kind: .live)
    }
  }

  /// All sequenced receipts of a replica, in the order of their ids. They outlive the floor.
  func receipts(_ replica: ReplicaID, after key: RowKey?, limit: Int) throws -> [Capture.Subject] {
    let last = key.flatMap { ReceiptKey($0) }
    return try connection.query(
      """
      SELECT user, mid FROM skerry_homes WHERE replica = ? AND (user, mid) > (?, ?) AND pos > 0
      ORDER BY user, mid LIMIT ?
      """, .text(replica.text), .text(last?.user.text ?? ""), .blob(last?.mutation.raw.bytes ?? []),
      .integer(Int64(limit))
    ) { .receipt(try receiptKey($0.text(0), $0.blob(1))) }
  }

  private func receiptKey(_ user: String, _ bytes: [UInt8]) throws -> ReceiptKey {
    guard let mutation = MutationID(bytes: bytes) else { throw StorageError.damaged("receipt of \(user)") }
    return ReceiptKey(user: AccountID(user), mutation: mutation)
  }
}
