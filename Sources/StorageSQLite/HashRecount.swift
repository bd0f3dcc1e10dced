// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore

/// Takes the hashes of rows anew that hash to something else under a later version of the schema, and adds up the spaces anew,
/// as devices do when they are brought to that version.
struct HashRecount {
  private let connection: SQLiteConnection
  private let transaction: SQLiteTransaction
  private let catalog: Catalog

  init(_ catalog: Catalog, _ connection: SQLiteConnection) {
    self.catalog = catalog
    self.connection = connection
    transaction = SQLiteTransaction(connection, catalog, fingerprint: catalog.schema.fingerprint)
  }

  func run(after upgrade: SchemaUpgrade) throws {
    let changed = upgrade.tables.filter(\.changesHashes).compactMap { catalog.table($0.new.name) }
    if changed.isEmpty { return }
    for table in changed { try rehash(table) }
    try addUp()
  }

  /// A row that has been deleted, which nobody has sequenced yet, keeps the hash with which it is counted.
  private func rehash(_ table: TableInfo) throws {
    var last = ""
    while true {
      let keys = try connection.query(
        """
        SELECT key FROM skerry_rows WHERE tbl = ? AND key > ? AND hash IS NOT NULL AND dead = 0 ORDER BY key LIMIT 500
        """, .text(table.name), .text(last)
      ) { $0.text(0) }
      for text in keys {
        let key = try transaction.key(table.name, text)
        guard let row = try transaction.row(key) else { continue }
        let image = RowImage(key: key, version: row.version, incarnation: row.incarnation, values: row.values)
        try connection.run(
          "UPDATE skerry_rows SET hash = ? WHERE tbl = ? AND key = ?", .blob(RowHash(of: image, in: table).bytes),
          .text(table.name), .text(text))
      }
      guard let end = keys.last else { return }
      last = end
    }
  }

  private func addUp() throws {
    var digests: [SpaceID: SpaceDigest] = [:]
    var last = ("", "")
    while true {
      let keys = try connection.query(
        """
        SELECT tbl, key FROM skerry_rows WHERE (tbl, key) > (?, ?) AND spaces IS NOT NULL ORDER BY tbl, key LIMIT 500
        """, .text(last.0), .text(last.1)
      ) { ($0.text(0), $0.text(1)) }
      for (table, text) in keys {
        guard let row = try transaction.sequenced(transaction.key(table, text)) else { continue }
        for space in row.spaces { digests[space, default: SpaceDigest()].add(row.hash) }
      }
      guard let end = keys.last else { break }
      last = end
    }
    for name in try connection.query("SELECT name FROM skerry_spaces", row: { $0.text(0) }) {
      let digest = digests[SpaceID(name)] ?? SpaceDigest()
      try connection.run(
        "UPDATE skerry_spaces SET sum = ?, count = ? WHERE name = ?", .blob(digest.bytes), .integer(digest.rows),
        .text(name))
    }
  }
}
