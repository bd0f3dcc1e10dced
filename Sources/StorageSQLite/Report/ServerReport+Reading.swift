// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables

extension SQLiteStorage {
  /// Whether a file is a server's, by the names of its tables.
  package static func isStorage(_ connection: SQLiteConnection) throws -> Bool {
    try connection.first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'skerry_history'") { _ in true }
      ?? false
  }

  /// Looks into a server's file without opening a storage on it. A caller that wants all of it as of one moment has a
  /// transaction open; each table is counted by going through it once.
  ///
  /// - Throws: `StorageError.damaged`.
  package static func inspect(_ connection: SQLiteConnection) throws -> ServerReport {
    try translating {
      var report = try ServerReport(header: connection)
      report.tables = try ServerReport.tables(connection)
      report.spaces = try ServerReport.spaces(connection)
      report.replicas = try ServerReport.replicas(connection)
      report.log = try ServerReport.log(connection)
      report.receipts = try ServerReport.receipts(connection)
      report.captures = try connection.count("SELECT count(*) FROM skerry_captures")
      report.runs = try connection.count("SELECT count(*) FROM skerry_runs")
      report.memberships = try connection.count("SELECT count(*) FROM skerry_members WHERE inside = 1")
      return report
    }
  }

  /// The statements that make an empty file a server's, in order: tables, indexes and capture triggers.
  package static func statements(for catalog: Catalog) -> [String] { ServerSchema(catalog).statements }
}

extension SQLiteConnection {
  /// A count, as the only column of the only row.
  fileprivate func count(_ sql: String, _ values: SQLiteValue...) throws -> Int64 {
    try statement(sql).first(values) { $0.integer(0) } ?? 0
  }
}

extension ServerReport {
  /// What the file says of itself.
  init(header connection: SQLiteConnection) throws {
    self.init()
    let found = try connection.first(
      "SELECT app, version, schema, epoch, head, floor, safe FROM skerry_history"
    ) { row in
      let history = History(epoch: row.text(3), head: row.integer(4), floor: row.integer(5), safe: row.integer(6))
      return (row.text(0), row.integer(1), row.blob(2), history)
    }
    guard let found else { throw StorageError.damaged("skerry_history is empty") }
    (app, version, fingerprint, history) = found
    nonce = try connection.first("SELECT nonce FROM skerry_runs ORDER BY last DESC LIMIT 1") { $0.text(0) }
  }

  /// The app's tables are those with a trigger that captures inserts; the schema itself is not kept in the file.
  fileprivate static func tables(_ connection: SQLiteConnection) throws -> [Table] {
    let names = try connection.query(
      """
      SELECT tbl_name FROM sqlite_schema WHERE type = 'trigger' AND name = 'skerry_insert_' || tbl_name ORDER BY tbl_name
      """
    ) { $0.text(0) }
    return try names.map { name in
      Table(
        name: name, rows: try connection.count("SELECT count(*) FROM \(TableSQL.quoted(name))"),
        captures: try connection.count("SELECT count(*) FROM skerry_captures WHERE tbl = ?", .text(name)))
    }
  }

  /// The spaces of rows; those of receipts are told with their replicas.
  fileprivate static func spaces(_ connection: SQLiteConnection) throws -> [Space] {
    try connection.query("SELECT name, head, sum, count FROM skerry_spaces ORDER BY name") { row in
      let name = SpaceID(row.text(0))
      guard let digest = SpaceDigest(bytes: row.blob(2), rows: row.integer(3)) else {
        throw StorageError.damaged("digest of \(name)")
      }
      return Space(name: name, head: row.integer(1), digest: digest)
    }.filter { !$0.name.holdsReceipts }
  }

  fileprivate static func replicas(_ connection: SQLiteConnection) throws -> [Replica] {
    try connection.query(
      """
      SELECT r.replica, r.user, r.settled, count(h.mid), count(h.mid) FILTER (WHERE h.pos = 0)
      FROM skerry_replicas AS r LEFT JOIN skerry_homes AS h ON h.replica = r.replica GROUP BY r.replica ORDER BY r.replica
      """
    ) { row in
      Replica(
        id: ReplicaID(row.text(0)), account: AccountID(row.text(1)), settled: row.integer(2), receipts: row.integer(3),
        unsequenced: row.integer(4))
    }
  }

  fileprivate static func log(_ connection: SQLiteConnection) throws -> [EntryKind: Int64] {
    let counts = try connection.query("SELECT kind, count(*) FROM skerry_log GROUP BY kind") { row in
      guard let kind = EntryKind(rawValue: row.integer(0)) else { throw StorageError.damaged("kind of a log entry") }
      return (kind, row.integer(1))
    }
    return Dictionary(uniqueKeysWithValues: counts)
  }

  fileprivate static func receipts(_ connection: SQLiteConnection) throws -> [Outcome: Int64] {
    let counts = try connection.query("SELECT outcome, count(*) FROM skerry_receipts GROUP BY outcome") { row in
      guard let outcome = Outcome(rawValue: row.text(0)) else { throw StorageError.damaged("outcome of a receipt") }
      return (outcome, row.integer(1))
    }
    return Dictionary(uniqueKeysWithValues: counts)
  }
}
