// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import Synchronization

/// A row's values by column, and its identity.
struct RowContent: Hashable {
  var values: [String: Value]
  var tag: [UInt8]
  var incarnation: [UInt8]

  /// Its canonical hash as a row of a table; nil if it has no identity.
  func hash(_ key: RowKey, _ table: TableInfo) -> RowHash? {
    guard let version = VersionTag(bytes: tag), let incarnation = Incarnation(bytes: incarnation) else { return nil }
    let values = table.columns.map { self.values[$0.name] ?? .null }
    let image = RowImage(key: key, version: version, incarnation: incarnation, values: values)
    return RowContent.hashes.withLock { known in
      if let hash = known[image] { return hash }
      let hash = RowHash(of: image, in: table)
      known[image] = hash
      return hash
    }
  }

  /// The same rows are seen over and over again.
  private static let hashes = Mutex<[RowImage: RowHash]>([:])
}

/// A device's file as raw SQL shows it, read without any of the store's code.
struct StoreContent {
  struct Visible {
    var row: RowContent
    var space: Int64?
    var generation: Int64?
    var state: Int64
  }

  struct Base {
    var row: RowContent
    var space: Int64?
    var generation: Int64?
  }

  struct Entry {
    var made: Int64
    var id: MutationID
    var number: Int64
    var operations: [SkerryModel.Operation]
    /// Row or space, and role.
    var subjects: [RowKey: Int64]
    var isAsleep: Bool
  }

  private(set) var visible: [RowKey: Visible] = [:]
  private(set) var bases: [RowKey: Base] = [:]
  private(set) var pairs: [RowKey: [Int64: Int64]] = [:]
  private(set) var entries: [Entry] = []
  /// What the index of subjects says of each entry.
  private(set) var index: [Int64: [RowKey: Int64]] = [:]
  private(set) var spaces: [Int64: (name: String, digest: SpaceDigest?)] = [:]
  /// Rows of which a put is held and not yet published.
  private(set) var held: Set<RowKey> = []

  init(_ connection: SQLiteConnection, _ catalog: Catalog) throws {
    for table in catalog.tables { try readTable(table, connection) }
    try readBases(connection, catalog)
    try readOutbox(connection)
    _ = try connection.query("SELECT tbl, key, space, gen FROM skerry_pairs") { row in
      pairs[try RowKey(table: row.text(0), bytes: row.blob(1)), default: [:]][row.integer(2)] = row.integer(3)
    }
    _ = try connection.query("SELECT id, name, sum, count FROM skerry_spaces") { row in
      spaces[row.integer(0)] = (row.text(1), SpaceDigest(bytes: row.blob(2), rows: row.integer(3)))
    }
    held = Set(
      try connection.query("SELECT tbl, key FROM skerry_stage WHERE kind = 0") {
        try RowKey(table: $0.text(0), bytes: $0.blob(1))
      })
  }

  private mutating func readTable(_ table: TableInfo, _ connection: SQLiteConnection) throws {
    let columns = table.columns.map(\.name)
    let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let found = try connection.query(
      "SELECT \(list), skerry_tag, skerry_inc, skerry_space, skerry_gen, skerry_state FROM \"\(table.name)\""
    ) { row in
      let count = columns.count
      let values = columns.indices.map { Self.value(row.value($0)) }
      return Visible(
        row: RowContent(
          values: Dictionary(uniqueKeysWithValues: zip(columns, values)), tag: row.blob(count),
          incarnation: row.blob(count + 1)),
        space: row.isNull(count + 2) ? nil : row.integer(count + 2),
        generation: row.isNull(count + 3) ? nil : row.integer(count + 3), state: row.integer(count + 4))
    }
    for item in found { visible[RowKey(table.name, item.row.values["id"] ?? .null)] = item }
  }

  private mutating func readBases(_ connection: SQLiteConnection, _ catalog: Catalog) throws {
    _ = try connection.query("SELECT tbl, key, tag, inc, space, gen, image FROM skerry_base") { row in
      let key = try RowKey(table: row.text(0), bytes: row.blob(1))
      var reader = CBORReader(row.blob(6))
      let columns = catalog.table(key.table)?.columns.map(\.name) ?? []
      let values = Dictionary(uniqueKeysWithValues: zip(columns, try reader.values()))
      bases[key] = Base(
        row: RowContent(values: values, tag: row.blob(2), incarnation: row.blob(3)),
        space: row.isNull(4) ? nil : row.integer(4), generation: row.isNull(5) ? nil : row.integer(5))
    }
  }

  private mutating func readOutbox(_ connection: SQLiteConnection) throws {
    entries = try connection.query(
      "SELECT made, mid, n, ops, subjects, void, dormant FROM skerry_outbox ORDER BY made"
    ) { row in
      guard let id = MutationID(bytes: row.blob(1)) else { throw Unreadable() }
      var reader = CBORReader(row.blob(4))
      var subjects: [RowKey: Int64] = [:]
      for _ in 0..<(try reader.array() / 3) {
        let key = RowKey(try reader.text(), values: try reader.values())
        subjects[key] = try reader.integer()
      }
      return Entry(
        made: row.integer(0), id: id, number: row.integer(2), operations: try SkerryModel.Operation.decode(row.blob(3)),
        subjects: subjects, isAsleep: row.integer(5) != 0 || row.integer(6) != 0)
    }
    _ = try connection.query("SELECT made, tbl, key, role FROM skerry_subjects") { row in
      let key = try RowKey(table: row.text(1), bytes: row.blob(2))
      index[row.integer(0), default: [:]][key] = row.integer(3)
    }
  }

  static func value(_ value: SQLiteValue) -> Value {
    switch value {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .blob(bytes)
    }
  }
}

/// A column holds what nothing of ours writes.
struct Unreadable: Error {}
