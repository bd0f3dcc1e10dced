// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit

/// Eight bytes over what an entry of the outbox says, kept beside it: SQLite has no checksums of its own, so a flipped bit in a
/// text is otherwise another text. What is salvaged from a damaged file is held against it.
enum EntrySum {
  static func of(
    _ id: MutationID, madeAt: Int64, label: String?, isVoid: Bool, operations: [UInt8], subjects: [UInt8]
  ) -> [UInt8] {
    var writer = CBORWriter()
    writer.array(6)
    writer.blob(id.raw.bytes)
    writer.integer(madeAt)
    if let label { writer.text(label) } else { writer.null() }
    writer.bool(isVoid)
    writer.blob(operations)
    writer.blob(subjects)
    return Array(SHA256.hash(writer.bytes).prefix(8))
  }

  /// Sums an entry up that was changed, in the outbox or the archive.
  static func refresh(_ made: Int64, in table: String = "skerry_outbox", on connection: SQLiteConnection) throws {
    let sum = try connection.first(
      "SELECT mid, at, label, void, ops, subjects FROM \(table) WHERE made = ?", .integer(made)
    ) { row in
      guard let id = MutationID(bytes: row.blob(0)) else { throw StoreError(.damaged, "id of an outbox entry") }
      return EntrySum.of(
        id, madeAt: row.integer(1), label: row.isNull(2) ? nil : row.text(2), isVoid: row.integer(3) != 0,
        operations: row.blob(4), subjects: row.blob(5))
    }
    guard let sum else { return }
    try connection.run("UPDATE \(table) SET sum = ? WHERE made = ?", .blob(sum), .integer(made))
  }

  /// Adds the column to a file that was made before there was one.
  static func addColumn(on connection: SQLiteConnection) throws {
    let isThere = try connection.first("SELECT 1 FROM pragma_table_info('skerry_outbox') WHERE name = 'sum'") { _ in
      true
    }
    if isThere == true { return }
    for table in ["skerry_outbox", "skerry_archive"] {
      try connection.execute("ALTER TABLE \(table) ADD COLUMN sum BLOB")
      let entries = try connection.query("SELECT made FROM \(table)") { $0.integer(0) }
      for made in entries { try refresh(made, in: table, on: connection) }
    }
  }
}
