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
    ClientSchema.own.map(\.value) + (catalog.tables + catalog.localTables).flatMap { [statement($0)] + indexes($0) }
  }

  /// Makes what is missing.
  func create(on connection: SQLiteConnection) throws {
    // Nearly always nothing is, and a look at the names is much cheaper than to have each statement find out.
    let there = Set(try connection.query("SELECT name FROM sqlite_schema") { $0.text(0) })
    for name in ClientSchema.dropped where there.contains(name) { try connection.execute("DROP INDEX \(name)") }
    for (name, statement) in ClientSchema.own where !there.contains(name) { try connection.execute(statement) }
    for table in catalog.tables + catalog.localTables {
      if !there.contains(table.name) { try connection.execute(statement(table)) }
      for columns in indexedColumns(table) where !there.contains(TableSQL(table).indexName(columns)) {
        try connection.execute(TableSQL(table).index(columns))
      }
    }
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
  func indexes(_ table: TableInfo) -> [String] { indexedColumns(table).map(TableSQL(table).index) }

  private func indexedColumns(_ table: TableInfo) -> [[String]] {
    let declared = table.definition.indexes.map(\.columns)
    let references = table.columns.filter { $0.reference != nil }.map { [$0.name] }
    return declared + references.filter { !declared.contains($0) }
  }

  /// Indexes that files of before have.
  private static let dropped = ["skerry_subjects_made"]

  /// Skerry's own, each with the name under which the file keeps it.
  static let own: KeyValuePairs = [
    "skerry_state": """
    CREATE TABLE IF NOT EXISTS skerry_state(
      id INTEGER PRIMARY KEY CHECK (id = 1), format INTEGER NOT NULL, account TEXT NOT NULL, app TEXT NOT NULL,
      version INTEGER NOT NULL, schema TEXT NOT NULL, ids TEXT NOT NULL, counter INTEGER NOT NULL, made INTEGER NOT NULL, cursor BLOB,
      long INTEGER NOT NULL, count INTEGER NOT NULL, mismatches INTEGER NOT NULL, synced INTEGER) STRICT
    """,
    "skerry_spaces": """
    CREATE TABLE IF NOT EXISTS skerry_spaces(
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL, old INTEGER NOT NULL, sum BLOB NOT NULL,
      count INTEGER NOT NULL) STRICT
    """,
    // A row's first space is inline; only further ones are here.
    "skerry_pairs": """
    CREATE TABLE IF NOT EXISTS skerry_pairs(
      tbl TEXT NOT NULL, key BLOB NOT NULL, space INTEGER NOT NULL, gen INTEGER NOT NULL,
      PRIMARY KEY(tbl, key, space)) STRICT, WITHOUT ROWID
    """,
    "skerry_pairs_space": "CREATE INDEX IF NOT EXISTS skerry_pairs_space ON skerry_pairs(space)",
    // The confirmed content of rows that the outbox touches; none for a row that is not on the server.
    "skerry_base": """
    CREATE TABLE IF NOT EXISTS skerry_base(
      tbl TEXT NOT NULL, key BLOB NOT NULL, tag BLOB NOT NULL, inc BLOB NOT NULL, space INTEGER, gen INTEGER,
      image BLOB NOT NULL, PRIMARY KEY(tbl, key)) STRICT, WITHOUT ROWID
    """,
    "skerry_outbox": """
    CREATE TABLE IF NOT EXISTS skerry_outbox(
      made INTEGER PRIMARY KEY, mid BLOB NOT NULL UNIQUE, n INTEGER NOT NULL, ops BLOB NOT NULL, subjects BLOB NOT NULL,
      label TEXT, at INTEGER NOT NULL, void INTEGER NOT NULL, sent INTEGER NOT NULL, dormant INTEGER NOT NULL,
      failed INTEGER NOT NULL, attempts INTEGER NOT NULL, error TEXT, sum BLOB) STRICT
    """,
    // What each outbox entry touches or leans on: rows, and spaces under the table name $space. Role 0 leans, 1 opens, 2 changes.
    // It is looked up by row; what one entry has to do with is in the entry, and needs no index that each write would pay for.
    "skerry_subjects": """
    CREATE TABLE IF NOT EXISTS skerry_subjects(
      tbl TEXT NOT NULL, key BLOB NOT NULL, made INTEGER NOT NULL, role INTEGER NOT NULL,
      PRIMARY KEY(tbl, key, made)) STRICT, WITHOUT ROWID
    """,
    "skerry_archive": """
    CREATE TABLE IF NOT EXISTS skerry_archive(
      made INTEGER PRIMARY KEY, mid BLOB NOT NULL UNIQUE, ops BLOB NOT NULL, subjects BLOB NOT NULL, label TEXT,
      at INTEGER NOT NULL, void INTEGER NOT NULL, sent INTEGER NOT NULL, pos INTEGER NOT NULL,
      sum BLOB) STRICT
    """,
    "skerry_archive_pos": "CREATE INDEX IF NOT EXISTS skerry_archive_pos ON skerry_archive(pos)",
    "skerry_inbox": """
    CREATE TABLE IF NOT EXISTS skerry_inbox(
      made INTEGER PRIMARY KEY, mid BLOB NOT NULL UNIQUE, outcome TEXT NOT NULL, code TEXT, reason TEXT, ops BLOB NOT NULL,
      label TEXT, at INTEGER NOT NULL) STRICT
    """,
    "skerry_lost": "CREATE TABLE IF NOT EXISTS skerry_lost(space TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT",
    // The writes that are made once for each file, and were.
    "skerry_done": "CREATE TABLE IF NOT EXISTS skerry_done(name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
    // Rows that the app brought along as already on the server, until the first sync has shown what the server has.
    "skerry_guesses":
      "CREATE TABLE IF NOT EXISTS skerry_guesses(tbl TEXT NOT NULL, key BLOB NOT NULL, PRIMARY KEY(tbl, key)) STRICT, WITHOUT ROWID",
    // What an adoption that is under way has dealt with.
    "skerry_adopted": """
    CREATE TABLE IF NOT EXISTS skerry_adopted(
      name TEXT NOT NULL, tbl TEXT NOT NULL, key BLOB NOT NULL, PRIMARY KEY(name, tbl, key)) STRICT, WITHOUT ROWID
    """,
    // The newest decisions, for whoever asks why; of the rows only hashes of the keys.
    "skerry_decisions": """
    CREATE TABLE IF NOT EXISTS skerry_decisions(
      seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, mid BLOB, code TEXT, rule TEXT, count INTEGER NOT NULL,
      pos INTEGER, rows BLOB) STRICT
    """,
    // Pages that are held and not yet published. Kind 0 put, 1 deleted, 2 filled, 3 receipt.
    "skerry_stage": """
    CREATE TABLE IF NOT EXISTS skerry_stage(
      seq INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, space TEXT NOT NULL, tbl TEXT NOT NULL,
      key BLOB NOT NULL, image BLOB NOT NULL, gen INTEGER NOT NULL) STRICT
    """,
    "skerry_stage_key": "CREATE INDEX IF NOT EXISTS skerry_stage_key ON skerry_stage(tbl, key)",
    "skerry_stage_space": "CREATE INDEX IF NOT EXISTS skerry_stage_space ON skerry_stage(space)",
  ]
}
