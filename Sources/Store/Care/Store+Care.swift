// SPDX-License-Identifier: Apache-2.0

import SkerryFileKit
import SkerryMerge
import SkerryModel
import SkerrySQLiteKit

/// Looking after a file: its room, and whether it is what it should be.
extension Store {
  /// Writes the file anew without what is free in it.
  ///
  /// - Parameter freeSpace: how much the volume has left; nil if it does not say.
  /// - Throws: `StoreError` with code `noSpace` or `locked`; an error of the database. The file is as it was.
  package func vacuum(freeSpace: (String) -> Int64? = FileSystem.system.freeSpace) throws {
    let connection = try connection
    let page = try connection.first("PRAGMA page_size") { $0.integer(0) } ?? 0
    let pages = try connection.first("PRAGMA page_count") { $0.integer(0) } ?? 0
    // A copy in a temporary file, and then one in the WAL (https://www.sqlite.org/lang_vacuum.html).
    let needed = 2 * page * pages
    if let left = freeSpace(place.path), left < needed {
      throw StoreError(
        .noSpace, "writing the file anew takes \(needed) bytes for a while, \(left) are left; free some first")
    }
    do {
      try connection.withBusyTimeout(0) {
        try connection.execute("VACUUM")
        // Not while a reader needs older pages: the next one that can does it.
        try connection.checkpoint(truncating: true)
      }
    } catch let error as SQLiteError where error.isBusy {
      throw StoreError(.locked, "another process is writing to the file; try again when it is through")
    } catch let error as SQLiteError where error.isFull {
      throw StoreError(.noSpace, "the volume is full; free some space first")
    }
  }

  /// Looks at the whole file: SQLite's own structures, the digests against the rows, what is visible against the confirmed rows
  /// and the outbox, and each waiting entry against its checksum. Nothing is changed; it is a look at each row, and the app's own
  /// writes wait for it.
  ///
  /// - Returns: what is wrong, a sentence each, in names and keys and without values; none if all is well.
  /// - Throws: `StoreError` with code `suspended`; an error of the database when the file cannot be read at all.
  package func integrityFaults() throws -> [String] {
    let connection = try connection
    let faults = try connection.query("PRAGMA quick_check(20)") { $0.text(0) }
    // What the checks below lean on is not there.
    if faults != ["ok"] { return faults.map { "SQLite: \($0)" } }
    var found: [String] = []
    do {
      try transaction {
        found += try entryFaults()
        found += try overlayFaults()
        found += try digestFaults()
        // What was counted anew for the sake of comparing is not to stay.
        throw Looked()
      }
    } catch is Looked {} catch let error as StoreError where error.code == .damaged {
      found.append(error.message)
    } catch let error as CBORError { found.append("a key or an image cannot be read: \(error)") }
    return found
  }

  private struct Looked: Error {}

  private func entryFaults() throws -> [String] {
    let connection = try connection
    // All at once: the index is not one by entry.
    let lines = try connection.query("SELECT made, tbl, key FROM skerry_subjects WHERE role > 0 AND tbl <> '$space'") {
      ($0.integer(0), try RowKey(table: $0.text(1), bytes: $0.blob(2)))
    }
    let indexed = Dictionary(grouping: lines, by: \.0).mapValues { Set($0.map(\.1)) }
    return try connection.query(
      "SELECT made, mid, at, label, void, ops, subjects, sum FROM skerry_outbox ORDER BY made"
    ) { row -> [String] in
      let made = row.integer(0)
      guard let id = MutationID(bytes: row.blob(1)) else { return ["outbox entry \(made): its id is none"] }
      let (operations, subjects) = (row.blob(5), row.blob(6))
      let sum = EntrySum.of(
        id, madeAt: row.integer(2), label: row.isNull(3) ? nil : row.text(3), isVoid: row.integer(4) != 0,
        operations: operations, subjects: subjects)
      var out: [String] = []
      if !row.isNull(7), row.blob(7) != sum { out.append("outbox entry \(id): its checksum is another") }
      if (try? Operation.decode(operations)) == nil { out.append("outbox entry \(id): its operations cannot be read") }
      let touched = (try? Subjects(encoded: subjects).touched).map(Set.init)
      if touched == nil { out.append("outbox entry \(id): what it touches cannot be read") }
      if let touched, touched != indexed[made] ?? [] {
        out.append("outbox entry \(id): the index of what it touches is another")
      }
      return out
    }.flatMap { $0 }
  }

  /// What is visible is the confirmed row with the outbox folded over it.
  private func overlayFaults() throws -> [String] {
    let connection = try connection
    let keys = try connection.query(
      "SELECT DISTINCT tbl, key FROM skerry_subjects WHERE role > 0 AND tbl <> '$space'"
    ) { try RowKey(table: $0.text(0), bytes: $0.blob(1)) }.sorted()
    func visible() throws -> [[Value]?] {
      try keys.map { key in try catalog.table(key.table).flatMap { try VisibleRows.state(key, $0, connection)?.values }
      }
    }
    let before = try visible()
    try refold(keys, ConfirmedRows(connection, catalog, spaces))
    var out = zip(keys, zip(before, try visible())).compactMap { key, values in
      values.0 == values.1 ? nil : "\(key): what is visible is not the confirmed row with what waits"
    }
    let strays = try connection.query("SELECT tbl, key FROM skerry_base") {
      try RowKey(table: $0.text(0), bytes: $0.blob(1))
    }
    let touched = Set(keys)
    out += strays.filter { !touched.contains($0) }.map { "\($0): its base is apart, and nothing touches it" }
    return out
  }

  private func digestFaults() throws -> [String] {
    let before = try digests()
    try ConfirmedRows(connection, catalog, spaces).recount()
    let after = try digests()
    return before.keys.sorted().filter { before[$0] != after[$0] }.map { "\($0): the digest is not that of its rows" }
  }
}
