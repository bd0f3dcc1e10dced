// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit

/// All that a device's file says at one moment, read by another connection than the engine's.
struct DeviceReading {
  struct Confirmed {
    var row: Row
    var spaces: Set<SpaceID>
  }

  struct Entry {
    let id: MutationID
    let number: Int64
    let isVoid: Bool
    let isSent: Bool
    let isDormant: Bool
    let isFailed: Bool
  }

  struct Refusal {
    let id: MutationID
    let outcome: Outcome
    let code: RefusalCode?
  }

  /// The version of the file.
  let lens: Lens
  var screen: [RowKey: Row] = [:]
  var base: [RowKey: Confirmed] = [:]
  var outbox: [Entry] = []
  var archive: [(id: MutationID, position: Int64)] = []
  var refusals: [Refusal] = []
  var lost: Set<SpaceID> = []
  /// Rows of which a put is held and not yet published.
  var heldPuts: Set<RowKey> = []
  var heldItems: Int64 = 0
  /// Bases kept apart for the outbox, and entries of its index.
  var apart: Int64 = 0
  var subjects: Int64 = 0
  var replicas: [ReplicaID] = []
  var cursor: Cursor?
  var isLong = false
  var mismatches: Int64 = 0
  var syncedAt: Int64?
  var digests: [SpaceID: SpaceDigest] = [:]

  init(_ connection: SQLiteConnection, _ reader: FileReader) throws {
    // The version is read again within the snapshot: an update may come between.
    let lens = try reader.deviceVersion(connection)
    self.lens = lens
    try connection.transaction(.deferred) {
      try need(
        try reader.deviceVersion(connection).version == lens.version, "I-19 a version changed while it was read", "")
      try read(connection, reader)
    }
  }

  private mutating func read(_ connection: SQLiteConnection, _ reader: FileReader) throws {
    try readState(connection)
    var names: [Int64: SpaceID] = [:]
    for (id, name) in try connection.query("SELECT id, name FROM skerry_spaces", row: { ($0.integer(0), $0.text(1)) }) {
      names[id] = SpaceID(name)
    }
    try readRows(connection, reader, names)
    try readQueues(connection)
    lost = Set(try connection.query("SELECT space FROM skerry_lost") { SpaceID($0.text(0)) })
    apart = try connection.first("SELECT count(*) FROM skerry_base") { $0.integer(0) } ?? 0
    subjects = try connection.first("SELECT count(*) FROM skerry_subjects") { $0.integer(0) } ?? 0
    heldItems = try connection.first("SELECT count(*) FROM skerry_stage") { $0.integer(0) } ?? 0
    if heldItems > 0 {
      heldPuts = Set(
        try connection.query("SELECT tbl, key FROM skerry_stage WHERE kind = 0") {
          try RowKey(table: $0.text(0), bytes: $0.blob(1))
        })
    }
  }

  private mutating func readState(_ connection: SQLiteConnection) throws {
    let found = try connection.first("SELECT ids, cursor, long, mismatches, synced FROM skerry_state") { row in
      replicas = row.text(0).split(separator: " ").map { ReplicaID(String($0)) }
      cursor = row.isNull(1) ? nil : try Cursor(encoded: row.blob(1))
      isLong = row.integer(2) != 0
      mismatches = row.integer(3)
      syncedAt = row.isNull(4) ? nil : row.integer(4)
      return true
    }
    try need(found == true, "I-19 the file has lost its state", "skerry_state is empty")
  }

  private mutating func readRows(
    _ connection: SQLiteConnection, _ reader: FileReader, _ names: [Int64: SpaceID]
  ) throws {
    func space(_ number: Int64, _ key: RowKey) throws -> SpaceID {
      guard let name = names[number] else { throw Broken("I-6 a row is in a space without a name", "\(key)") }
      return name
    }
    try reader.visible(connection, as: lens) { key, row, columns, at in
      screen[key] = row
      guard columns.integer(at + 2) == 0 else { return }
      let spaces: Set<SpaceID> = columns.isNull(at) ? [] : [try space(columns.integer(at), key)]
      base[key] = Confirmed(row: row, spaces: spaces)
    }
    _ = try connection.query("SELECT tbl, key, tag, inc, image, space FROM skerry_base") {
      row in
      let key = try RowKey(table: row.text(0), bytes: row.blob(1))
      var image = CBORReader(row.blob(4))
      guard let tag = VersionTag(bytes: row.blob(2)), let incarnation = Incarnation(bytes: row.blob(3)) else {
        throw Broken("I-5 a base cannot be read", "\(key)")
      }
      let spaces: Set<SpaceID> = row.isNull(5) ? [] : [try space(row.integer(5), key)]
      base[key] = Confirmed(
        row: Row(values: lens.full(key.table, try image.values()), tag: tag, incarnation: incarnation), spaces: spaces)
    }
    _ = try connection.query("SELECT tbl, key, space FROM skerry_pairs") { row in
      let key = try RowKey(table: row.text(0), bytes: row.blob(1))
      base[key]?.spaces.insert(try space(row.integer(2), key))
    }
  }

  private mutating func readQueues(_ connection: SQLiteConnection) throws {
    func id(_ row: SQLiteRow) throws -> MutationID {
      guard let id = MutationID(bytes: row.blob(0)) else { throw Broken("I-2 an id cannot be read", "") }
      return id
    }
    outbox = try connection.query("SELECT mid, n, void, sent, dormant, failed FROM skerry_outbox ORDER BY made") {
      row in
      Entry(
        id: try id(row), number: row.integer(1), isVoid: row.integer(2) != 0, isSent: row.integer(3) != 0,
        isDormant: row.integer(4) != 0, isFailed: row.integer(5) != 0)
    }
    archive = try connection.query("SELECT mid, pos FROM skerry_archive ORDER BY made") { (try id($0), $0.integer(1)) }
    refusals = try connection.query("SELECT mid, outcome, code FROM skerry_inbox ORDER BY made") { row in
      guard let outcome = Outcome(rawValue: row.text(1)) else {
        throw Broken("I-2 an outcome cannot be read", row.text(1))
      }
      return Refusal(id: try id(row), outcome: outcome, code: row.isNull(2) ? nil : RefusalCode(row.text(2)))
    }
  }
}
