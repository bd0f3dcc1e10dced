// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryTables

/// A row as the server last confirmed it, with the spaces that hold it here and the generation mark of each.
struct ConfirmedRow: Equatable {
  var state: RowState
  /// Space number to generation mark. Empty only while a page that brings the row back is staged, and for a guess.
  var pairs: SpacePairs
}

/// The base of the overlay: rows as the server confirmed them.
///
/// A row that the outbox does not touch is confirmed as it stands in the app's table; the base of one that it touches is in
/// `skerry_base`, since the app's table then shows the folded row. One that is not there has no base: the outbox made the row.
/// Digests follow every change, since all go through `set`.
final class ConfirmedRows {
  private let connection: SQLiteConnection
  private let catalog: Catalog
  private let spaces: SpaceTable
  private var digests: [Int64: SpaceDigest] = [:]
  /// Most stores have no row in a second space, and most catch-ups meet no row with pending work: then each row costs one
  /// look-up fewer.
  private var hasFurtherPairs: Bool
  private var hasTouched: Bool
  /// Rows that the outbox touches, or has touched, in this transaction: their bases are apart until `moveBack`, whatever the
  /// index of the outbox says by now.
  private var apart: Set<RowKey> = []

  init(_ connection: SQLiteConnection, _ catalog: Catalog, _ spaces: SpaceTable) throws {
    self.connection = connection
    self.catalog = catalog
    self.spaces = spaces
    hasFurtherPairs = try connection.first("SELECT 1 FROM skerry_pairs LIMIT 1") { _ in true } ?? false
    // Each entry touches something. What some entries lean on could be many lines to read before it.
    hasTouched = try connection.first("SELECT 1 FROM skerry_subjects LIMIT 1") { _ in true } ?? false
  }

  /// Whether the base is kept apart, because the outbox touches the row.
  func isApart(_ key: RowKey) throws -> Bool {
    if apart.contains(key) { return true }
    guard hasTouched else { return false }
    return try Subjects.touches(key, on: connection)
  }

  /// The outbox's index is about to forget what touched these rows.
  func keepApart(_ keys: some Sequence<RowKey>) { apart.formUnion(keys) }

  func row(_ key: RowKey) throws -> ConfirmedRow? {
    guard let table = catalog.table(key.table) else { return nil }
    let found =
      try isApart(key)
      ? connection.first(
        "SELECT image, tag, inc, space, gen FROM skerry_base WHERE tbl = ? AND key = ?", .text(key.table),
        .blob(key.bytes)
      ) { try ConfirmedRow(apart: $0, key) }
      : VisibleRows.read(key, table, connection) { try ConfirmedRow(inline: $0, table, key) }
    guard var found else { return nil }
    if hasFurtherPairs {
      let further = try connection.query(
        "SELECT space, gen FROM skerry_pairs WHERE tbl = ? AND key = ?", .text(key.table), .blob(key.bytes)
      ) { ($0.integer(0), $0.integer(1)) }
      for (space, generation) in further { found.pairs[space] = generation }
    }
    return found
  }

  /// Whether a row is one that the app brought along, and that no page has confirmed.
  func isGuess(_ key: RowKey, _ row: ConfirmedRow) throws -> Bool {
    try row.pairs.isEmpty && Guesses.contains(key, connection)
  }

  /// Changes a row from what `row` gave; nil when it is, or was, not there.
  func set(_ key: RowKey, from old: ConfirmedRow?, to new: ConfirmedRow?) throws {
    guard old != new, let table = catalog.table(key.table) else { return }
    if let old, old.pairs.isEmpty { try Guesses.remove(key, connection) }
    try moveDigests(key, table, from: old, to: new)
    // The first space in the order of numbers is inline, further ones are in their own table.
    let pairs = new?.pairs ?? SpacePairs()
    if hasFurtherPairs {
      try connection.run("DELETE FROM skerry_pairs WHERE tbl = ? AND key = ?", .text(key.table), .blob(key.bytes))
    }
    for pair in pairs.further {
      hasFurtherPairs = true
      try connection.run(
        "INSERT INTO skerry_pairs(tbl, key, space, gen) VALUES (?, ?, ?, ?)", .text(key.table), .blob(key.bytes),
        .integer(pair.space), .integer(pair.generation))
    }
    if try isApart(key) {
      try writeApart(key, new)
    } else if let new {
      let hidden: [SQLiteValue] = pairs.columns + [.integer(0)]
      try VisibleRows.write(key, table, new.state, hidden: hidden, replacing: old != nil, connection)
    } else {
      try VisibleRows.delete(key, table, connection)
    }
  }

  /// Moves the base apart, before the outbox's first touch of the row.
  ///
  /// - Parameter isVisible: false if it is known that the app's table has no such row: then there is nothing to move.
  func moveApart(_ key: RowKey, isVisible: Bool = true) throws {
    defer { apart.insert(key) }
    guard isVisible, let table = catalog.table(key.table), try !isApart(key), let found = try row(key) else { return }
    try writeApart(key, found)
    // What is visible from now on is in no space: a sweep would take it for a confirmed row.
    try VisibleRows.write(key, table, found.state, hidden: VisibleRows.pending, replacing: true, connection)
  }

  /// Moves the base back into the app's table, once nothing in the outbox touches the row.
  func moveBack(_ key: RowKey) throws {
    guard let table = catalog.table(key.table), try isApart(key) else { return }
    let found = try row(key)
    apart.remove(key)
    try connection.run("DELETE FROM skerry_base WHERE tbl = ? AND key = ?", .text(key.table), .blob(key.bytes))
    guard let found else { return try VisibleRows.delete(key, table, connection) }
    try VisibleRows.write(
      key, table, found.state,
      hidden: isGuess(key, found) ? Guesses.hidden : found.pairs.columns + [.integer(0)],
      replacing: true, connection)
  }

  /// How many rows a space holds, by its digest.
  func count(in space: Int64) throws -> Int64 { try (digests[space] ?? spaces.digest(space)).rows }

  /// The keys of the rows that a space holds, by any table; with `olderThan`, only those with an older mark.
  func keys(in space: Int64, olderThan generation: Int64? = nil) throws -> [RowKey] {
    let bound = generation ?? Int64.max
    var out: [RowKey] = []
    for table in catalog.tables {
      let sql = TableSQL(table)
      let count = table.keyColumns.count
      out += try connection.query(
        "SELECT \(sql.keyColumns) FROM \(sql.mainName) WHERE skerry_space = ? AND skerry_gen < ?", .integer(space),
        .integer(bound)
      ) { RowKey(table.name, values: $0.modelValues(0..<count)) }
    }
    for source in ["skerry_base", "skerry_pairs"] {
      out += try connection.query(
        "SELECT tbl, key FROM \(source) WHERE space = ? AND gen < ?", .integer(space), .integer(bound)
      ) { try RowKey(table: $0.text(0), bytes: $0.blob(1)) }
    }
    return out
  }

  /// Counts the digests of all spaces anew, by a look at each row: what rows hash to has changed.
  func recount() throws {
    for space in try spaces.all() { digests[try spaces.id(of: space)] = SpaceDigest() }
    for table in catalog.tables {
      let sql = TableSQL(table)
      // The keys first: a statement that is being stepped through cannot be asked for another row.
      let keys = try connection.query("SELECT \(sql.keyColumns) FROM \(sql.mainName) WHERE skerry_state = 0") {
        RowKey(table.name, values: $0.modelValues(0..<table.keyColumns.count))
      }
      for key in keys { try moveDigests(key, table, from: nil, to: row(key)) }
    }
    let apart = try connection.query("SELECT tbl, key FROM skerry_base") {
      try RowKey(table: $0.text(0), bytes: $0.blob(1))
    }
    for key in apart {
      guard let table = catalog.table(key.table) else { continue }
      try moveDigests(key, table, from: nil, to: row(key))
    }
    try flush()
  }

  /// Writes the digests that changed.
  func flush() throws {
    for (space, digest) in digests.sorted(by: { $0.key < $1.key }) { try spaces.setDigest(space, digest) }
    digests.removeAll()
  }

  private func moveDigests(_ key: RowKey, _ table: TableInfo, from old: ConfirmedRow?, to new: ConfirmedRow?) throws {
    func hash(_ row: ConfirmedRow) -> RowHash {
      let state = row.state
      return RowHash(
        of: RowImage(key: key, version: state.version, incarnation: state.incarnation, values: state.values), in: table)
    }
    if let old {
      let before = hash(old)
      try old.pairs.visit { pair in try withDigest(pair.space) { $0.remove(before) } }
    }
    if let new {
      let after = hash(new)
      try new.pairs.visit { pair in try withDigest(pair.space) { $0.add(after) } }
    }
  }

  private func withDigest(_ space: Int64, _ change: (inout SpaceDigest) -> Void) throws {
    var digest = try digests[space] ?? spaces.digest(space)
    change(&digest)
    digests[space] = digest
  }

  private func writeApart(_ key: RowKey, _ row: ConfirmedRow?) throws {
    guard let row else {
      try connection.run("DELETE FROM skerry_base WHERE tbl = ? AND key = ?", .text(key.table), .blob(key.bytes))
      return
    }
    let state = row.state
    try connection.statement(
      "INSERT OR REPLACE INTO skerry_base(tbl, key, tag, inc, image, space, gen) VALUES (?, ?, ?, ?, ?, ?, ?)"
    ).run(
      [
        .text(key.table), .blob(key.bytes), .blob(state.version.raw.bytes), .blob(state.incarnation.bytes),
        .blob(RowImageCoding.encode(state.values)),
      ] + row.pairs.columns)
  }
}

extension ConfirmedRow {
  /// From `skerry_base`: image, tag, incarnation, space, generation.
  fileprivate init(apart row: SQLiteRow, _ key: RowKey) throws {
    guard let version = VersionTag(bytes: row.blob(1)), let incarnation = Incarnation(bytes: row.blob(2)) else {
      throw StoreError(.damaged, "base of \(key)")
    }
    state = RowState(
      values: try RowImageCoding.decode(row.blob(0), key), version: version, incarnation: incarnation)
    pairs = row.isNull(3) ? SpacePairs() : SpacePairs(space: row.integer(3), generation: row.integer(4))
  }

  /// From the app's table: its columns, then tag, incarnation, space, generation.
  fileprivate init(inline row: SQLiteRow, _ table: TableInfo, _ key: RowKey) throws {
    let count = table.columns.count
    state = try VisibleRows.state(row, table, key)
    pairs =
      row.isNull(count + 2)
      ? SpacePairs() : SpacePairs(space: row.integer(count + 2), generation: row.integer(count + 3))
  }
}

extension SpacePairs {
  /// What is inline: number and mark of the first space.
  fileprivate var columns: [SQLiteValue] {
    first.map { [.integer($0.space), .integer($0.generation)] } ?? [.null, .null]
  }
}

/// A row's values as the bytes that `skerry_base` and `skerry_stage` hold.
enum RowImageCoding {
  static func encode(_ values: [Value]) -> [UInt8] {
    var writer = CBORWriter()
    writer.values(values)
    return writer.bytes
  }

  static func decode(_ bytes: [UInt8], _ key: RowKey) throws -> [Value] {
    var reader = CBORReader(bytes)
    do {
      let values = try reader.values()
      try reader.end()
      return values
    } catch { throw StoreError(.damaged, "image of \(key): \(error)") }
  }
}
