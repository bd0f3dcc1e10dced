// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit

/// An item of a page that changes rows or settles a mutation, with the generation mark that its space had when it came.
struct StagedItem: Equatable {
  enum Kind: Int64 {
    case put = 0
    case deleted, filled, receipt
  }

  var kind: Kind
  var space: SpaceID
  var key: RowKey
  var generation: Int64
  /// Of a put.
  var row: RowState?
  /// Of a receipt.
  var receipt: Receipt?
}

/// Pages that are held and not yet published, in the order in which they came.
final class Stage {
  private let connection: SQLiteConnection
  /// No key is looked up while nothing is held, which is nearly always.
  private(set) var isEmpty: Bool

  init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    isEmpty = try connection.first("SELECT 1 FROM skerry_stage LIMIT 1") { _ in false } ?? true
  }

  func append(_ item: StagedItem) throws {
    isEmpty = false
    try connection.run(
      "INSERT INTO skerry_stage(kind, space, tbl, key, image, gen) VALUES (?, ?, ?, ?, ?, ?)",
      .integer(item.kind.rawValue), .text(item.space.text), .text(item.key.table), .blob(item.key.bytes),
      .blob(Stage.encode(item)), .integer(item.generation))
  }

  /// Gives each item in order to a closure, and removes those for which it says so.
  func drain(_ publish: (StagedItem) throws -> Bool) throws {
    if isEmpty { return }
    var last: Int64 = 0
    // A part at a time: the closure runs statements of its own, and memory stays flat.
    while true {
      let items = try connection.query(
        "SELECT seq, kind, space, tbl, key, image, gen FROM skerry_stage WHERE seq > ? ORDER BY seq LIMIT 200",
        .integer(last)
      ) { ($0.integer(0), try Stage.decode($0)) }
      for (sequence, item) in items where try publish(item) {
        try connection.run("DELETE FROM skerry_stage WHERE seq = ?", .integer(sequence))
      }
      guard let end = items.last?.0 else { break }
      last = end
    }
    isEmpty = try connection.first("SELECT 1 FROM skerry_stage LIMIT 1") { _ in false } ?? true
  }

  /// Whether a put of this row is held, by any space or by one.
  func holdsPut(_ key: RowKey, in space: SpaceID? = nil) throws -> Bool {
    if isEmpty { return false }
    return try connection.first(
      "SELECT 1 FROM skerry_stage WHERE tbl = ? AND key = ? AND kind = 0 AND (?3 IS NULL OR space = ?3) LIMIT 1",
      .text(key.table), .blob(key.bytes), space.map { .text($0.text) } ?? .null
    ) { _ in true } ?? false
  }

  /// Whether anything about this row is held.
  func holdsAnything(about key: RowKey) throws -> Bool {
    if isEmpty { return false }
    return try connection.first(
      "SELECT 1 FROM skerry_stage WHERE tbl = ? AND key = ? LIMIT 1", .text(key.table), .blob(key.bytes)
    ) { _ in true } ?? false
  }

  /// All that is held about this row, in the order in which it came.
  func items(about key: RowKey) throws -> [StagedItem] {
    if isEmpty { return [] }
    return try connection.query(
      "SELECT seq, kind, space, tbl, key, image, gen FROM skerry_stage WHERE tbl = ? AND key = ? ORDER BY seq",
      .text(key.table), .blob(key.bytes), row: Stage.decode)
  }

  /// Whether anything of a space is held.
  func holdsAnything(in space: SpaceID) throws -> Bool {
    if isEmpty { return false }
    return try connection.first("SELECT 1 FROM skerry_stage WHERE space = ? LIMIT 1", .text(space.text)) { _ in true }
      ?? false
  }

  /// Whether the receipt of a mutation is held.
  func holdsReceipt(_ id: MutationID) throws -> Bool { try holdsAnything(about: Stage.receiptKey(id)) }

  /// Removes what is held of a space, and gives the rows concerned.
  func removeAll(in space: SpaceID) throws -> [RowKey] {
    if isEmpty { return [] }
    let keys = try connection.query("SELECT tbl, key FROM skerry_stage WHERE space = ?", .text(space.text)) {
      try RowKey(table: $0.text(0), bytes: $0.blob(1))
    }
    try connection.run("DELETE FROM skerry_stage WHERE space = ?", .text(space.text))
    return keys
  }

  /// Removes what is held of a row in a space.
  ///
  /// - Returns: whether there was anything.
  func remove(_ key: RowKey, in space: SpaceID) throws -> Bool {
    if isEmpty { return false }
    return try connection.run(
      "DELETE FROM skerry_stage WHERE tbl = ? AND key = ? AND space = ?", .text(key.table), .blob(key.bytes),
      .text(space.text)) > 0
  }

  /// Removes the puts of a space that are held with an older mark, and gives the rows concerned.
  func removePuts(in space: SpaceID, olderThan generation: Int64) throws -> [RowKey] {
    if isEmpty { return [] }
    let condition = "space = ? AND kind = 0 AND gen < ?"
    let keys = try connection.query(
      "SELECT tbl, key FROM skerry_stage WHERE \(condition)", .text(space.text), .integer(generation)
    ) { try RowKey(table: $0.text(0), bytes: $0.blob(1)) }
    if !keys.isEmpty {
      try connection.run("DELETE FROM skerry_stage WHERE \(condition)", .text(space.text), .integer(generation))
    }
    return keys
  }

  /// Removes everything, and gives the rows concerned.
  func clear() throws -> [RowKey] {
    let keys = try connection.query("SELECT DISTINCT tbl, key FROM skerry_stage WHERE kind = 0") {
      try RowKey(table: $0.text(0), bytes: $0.blob(1))
    }
    try connection.run("DELETE FROM skerry_stage")
    isEmpty = true
    return keys
  }

  /// Puts the values of held rows into the order of a later version of their table.
  func convert(_ table: SchemaUpgrade.Table) throws {
    let items = try connection.query(
      "SELECT seq, kind, space, tbl, key, image, gen FROM skerry_stage WHERE tbl = ? AND kind = 0",
      .text(table.old.name)
    ) { ($0.integer(0), try Stage.decode($0)) }
    for (sequence, item) in items {
      var item = item
      item.row = item.row.map {
        RowState(values: table.values($0.values), version: $0.version, incarnation: $0.incarnation)
      }
      try connection.run(
        "UPDATE skerry_stage SET image = ? WHERE seq = ?", .blob(Stage.encode(item)), .integer(sequence))
    }
  }

  static func receiptKey(_ id: MutationID) -> RowKey { RowKey("$receipt", .blob(id.raw.bytes)) }

  private static func encode(_ item: StagedItem) -> [UInt8] {
    var writer = CBORWriter()
    if let row = item.row {
      writer.array(3)
      writer.blob(row.version.raw.bytes)
      writer.blob(row.incarnation.bytes)
      writer.values(row.values)
    } else if let receipt = item.receipt {
      let parts = [receipt.outcome.rawValue, receipt.code?.text, receipt.reason]
      writer.values(parts.map { $0.map { .text($0) } ?? .null })
    } else {
      writer.null()
    }
    return writer.bytes
  }

  private static func decode(_ row: SQLiteRow) throws -> StagedItem {
    let key = try RowKey(table: row.text(3), bytes: row.blob(4))
    guard let kind = StagedItem.Kind(rawValue: row.integer(1)) else { throw StoreError(.damaged, "skerry_stage") }
    var item = StagedItem(kind: kind, space: SpaceID(row.text(2)), key: key, generation: row.integer(6))
    var reader = CBORReader(row.blob(5))
    switch kind {
    case .put:
      try reader.array(of: 3)
      guard let version = VersionTag(bytes: try reader.blob()), let incarnation = Incarnation(bytes: try reader.blob())
      else { throw StoreError(.damaged, "staged \(key)") }
      item.row = RowState(values: try reader.values(), version: version, incarnation: incarnation)
    case .receipt:
      let parts = try reader.values()
      guard parts.count == 3, let outcome = Outcome(rawValue: parts[0].text ?? ""),
        case .blob(let id)? = key.values.first,
        let mutation = MutationID(bytes: id)
      else { throw StoreError(.damaged, "staged receipt") }
      item.receipt = Receipt(
        id: mutation, outcome: outcome, code: parts[1].text.map { RefusalCode($0) }, reason: parts[2].text)
    case .deleted, .filled: break
    }
    return item
  }
}
