// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerrySQLiteKit
import SkerryTables

/// How much room a store takes.
public struct StoreSize: Sendable, Equatable {
  /// A table of the app.
  public struct Table: Sendable, Equatable {
    /// The table's name.
    public let name: String
    /// The rows as the user sees them.
    public let rows: Int64
    /// What its rows and indexes take, in whole pages; nil if the SQLite that is linked does not tell.
    public let bytes: Int64?
  }

  /// The database's file without its WAL, in bytes.
  public let file: Int64
  /// What is in the WAL and not yet in the file; 0 if there is none.
  public let wal: Int64
  /// What of the file is free, for later rows or for `vacuum()` to give back.
  public let free: Int64
  /// What the operations take that wait for their outcome.
  public let outbox: Int64
  /// The app's tables by name; those of Skerry's own are not among them.
  public let tables: [Table]
}

extension StoreSize {
  /// Measures a file by one of its connections. Counting the rows is a look at each, and so is adding up pages.
  ///
  /// - Parameter wal: the size of the WAL's file.
  package init(_ connection: SQLiteConnection, _ catalog: Catalog, wal: Int64) throws {
    func number(_ sql: String) throws -> Int64 { try connection.first(sql) { $0.integer(0) } ?? 0 }
    let page = try number("PRAGMA page_size")
    file = try number("PRAGMA page_count") * page
    free = try number("PRAGMA freelist_count") * page
    self.wal = wal
    outbox = try number("SELECT total(length(ops)) FROM skerry_outbox")
    let pages = try? connection.query(
      """
      SELECT coalesce(i.tbl_name, s.name), sum(s.pgsize) FROM dbstat AS s
      LEFT JOIN main.sqlite_schema AS i ON i.name = s.name GROUP BY 1
      """
    ) { ($0.text(0), $0.integer(1)) }
    let bytes = pages.map { Dictionary($0, uniquingKeysWith: +) }
    tables = try (catalog.tables + catalog.localTables).map { table in
      Table(
        name: table.name, rows: try number("SELECT count(*) FROM \(TableSQL(table).mainName)"),
        bytes: bytes.map { $0[table.name] ?? 0 })
    }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}
