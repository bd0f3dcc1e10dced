// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryTables

/// The tables of a device's file: the app's own with hidden columns, and Skerry's beside them.
///
/// Of the app's constraints only the primary key is enforced, so that no page can be refused; the others are predicted when
/// the app writes, and decided by the server.
struct ClientSchema {
  /// The format of Skerry's own tables.
  static let format: Int64 = 2

  private let catalog: Catalog

  init(_ catalog: Catalog) { self.catalog = catalog }

  /// All that makes an empty file a device's, in order; what is there already is left as it is.
  var statements: [String] {
    ClientSchema.ownTables + (catalog.tables + catalog.localTables).flatMap { [statement($0)] + indexes($0) }
  }

  func create(on connection: SQLiteConnection) throws {
    for statement in statements { try connection.execute(statement) }
  }

  /// Row metadata is inline: measured, a side table costs 1.42 times a bare insert, hidden columns 0.93. While the outbox
  /// touches a row, its confirmed content and its spaces are in `skerry_base`, and these columns tell of the visible row.
  private func statement(_ table: TableInfo) -> String {
    let sql = TableSQL(table)
    let hidden = [
      "skerry_tag BLOB", "skerry_inc BLOB", "skerry_space INTEGER", "skerry_gen INTEGER", "skerry_state INTEGER",
    ]
    let parts = sql.columnDeclarations(enforceNull: false) + (table.isLocal ? [] : hidden) + [sql.primaryKey]
    return "CREATE TABLE IF NOT EXISTS \(sql.name)(\(parts.joined(separator: ", "))) STRICT"
  }

  /// Those that are declared, and one for each reference: the rows that refer to one are looked for when it goes.
  func indexes(_ table: TableInfo) -> [String] {
    let sql = TableSQL(table)
    let references = table.columns.filter { $0.reference != nil }.map { [$0.name] }
    let declared = Set(table.definition.indexes.map(\.columns))
    return sql.indexes + references.filter { !declared.contains($0) }.map(sql.index)
  }

  static let ownTables = [
    """
    CREATE TABLE IF NOT EXISTS skerry_state(
      id INTEGER PRIMARY KEY CHECK (id = 1), format INTEGER NOT NULL, account TEXT NOT NULL, app TEXT NOT NULL,
      version INTEGER NOT NULL, schema TEXT NOT NULL, ids TEXT NOT NULL, counter INTEGER NOT NULL, made INTEGER NOT NULL, cursor BLOB,
      long INTEGER NOT NULL, count INTEGER NOT NULL, mismatches INTEGER NOT NULL, synced INTEGER) STRICT
    """,
    """
    CREATE TABLE IF NOT EXISTS skerry_spaces(
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL, old INTEGER NOT NULL, sum BLOB NOT NULL,
      count INTEGER NOT NULL) STRICT
    """,
    // A row's first space is inline; only further ones are here.
    """
    CREATE TABLE IF NOT EXISTS skerry_pairs(
      tbl TEXT NOT NULL, key BLOB NOT NULL, space INTEGER NOT NULL, gen INTEGER NOT NULL,
      PRIMARY KEY(tbl, key, space)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS skerry_pairs_space ON skerry_pairs(space)",
    // The confirmed content of rows that the outbox touches; none for a row that is not on the server.
    """
    CREATE TABLE IF NOT EXISTS skerry_base(
      tbl TEXT NOT NULL, key BLOB NOT NULL, tag BLOB NOT NULL, inc BLOB NOT NULL, space INTEGER, gen INTEGER,
      image BLOB NOT NULL, PRIMARY KEY(tbl, key)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS skerry_outbox(
      made INTEGER PRIMARY KEY, mid BLOB NOT NULL UNIQUE, n INTEGER NOT NULL, ops BLOB NOT NULL, subjects BLOB NOT NULL,
      label TEXT, at INTEGER NOT NULL, void INTEGER NOT NULL, sent INTEGER NOT NULL, dormant INTEGER NOT NULL,
      failed INTEGER NOT NULL, attempts INTEGER NOT NULL, error TEXT) STRICT
    """,
    // What each outbox entry touches or leans on: rows, and spaces under the table name $space. Role 0 leans, 1 opens, 2 changes.
    """
    CREATE TABLE IF NOT EXISTS skerry_subjects(
      tbl TEXT NOT NULL, key BLOB NOT NULL, made INTEGER NOT NULL, role INTEGER NOT NULL,
      PRIMARY KEY(tbl, key, made)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS skerry_subjects_made ON skerry_subjects(made)",
    """
    CREATE TABLE IF NOT EXISTS skerry_archive(
      made INTEGER PRIMARY KEY, mid BLOB NOT NULL UNIQUE, ops BLOB NOT NULL, subjects BLOB NOT NULL, label TEXT,
      at INTEGER NOT NULL, void INTEGER NOT NULL, sent INTEGER NOT NULL, pos INTEGER NOT NULL) STRICT
    """,
    "CREATE INDEX IF NOT EXISTS skerry_archive_pos ON skerry_archive(pos)",
    """
    CREATE TABLE IF NOT EXISTS skerry_inbox(
      made INTEGER PRIMARY KEY, mid BLOB NOT NULL UNIQUE, outcome TEXT NOT NULL, code TEXT, reason TEXT, ops BLOB NOT NULL,
      label TEXT, at INTEGER NOT NULL) STRICT
    """,
    "CREATE TABLE IF NOT EXISTS skerry_lost(space TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT",
    // The writes that are made once for each file, and were.
    "CREATE TABLE IF NOT EXISTS skerry_done(name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
    // Rows that the app brought along as already on the server, until the first sync has shown what the server has.
    "CREATE TABLE IF NOT EXISTS skerry_guesses(tbl TEXT NOT NULL, key BLOB NOT NULL, PRIMARY KEY(tbl, key)) STRICT, WITHOUT ROWID",
    // What an adoption that is under way has dealt with.
    """
    CREATE TABLE IF NOT EXISTS skerry_adopted(
      name TEXT NOT NULL, tbl TEXT NOT NULL, key BLOB NOT NULL, PRIMARY KEY(name, tbl, key)) STRICT, WITHOUT ROWID
    """,
    // The newest decisions, for whoever asks why; of the rows only hashes of the keys.
    """
    CREATE TABLE IF NOT EXISTS skerry_decisions(
      seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, mid BLOB, code TEXT, rule TEXT, count INTEGER NOT NULL,
      pos INTEGER, rows BLOB) STRICT
    """,
    // Pages that are held and not yet published. Kind 0 put, 1 deleted, 2 filled, 3 receipt.
    """
    CREATE TABLE IF NOT EXISTS skerry_stage(
      seq INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, space TEXT NOT NULL, tbl TEXT NOT NULL,
      key BLOB NOT NULL, image BLOB NOT NULL, gen INTEGER NOT NULL) STRICT
    """,
    "CREATE INDEX IF NOT EXISTS skerry_stage_key ON skerry_stage(tbl, key)",
    "CREATE INDEX IF NOT EXISTS skerry_stage_space ON skerry_stage(space)",
  ]
}
