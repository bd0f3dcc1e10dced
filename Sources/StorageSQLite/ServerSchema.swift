// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables

/// The tables of a server's file: the app's own, and Skerry's beside them under names that begin with `skerry_`.
struct ServerSchema {
  private let catalog: Catalog

  init(_ catalog: Catalog) { self.catalog = catalog }

  /// All that makes an empty file a server's, in order; what is there already is left as it is.
  var statements: [String] { ServerSchema.ownTables + catalog.tables.flatMap(statements(of:)) }

  private func statements(of table: TableInfo) -> [String] {
    tableStatements(table) + UniqueTriggers(table).statements + CaptureTriggers(table).statements
  }

  /// That the file was made with an earlier version of the schema, and what that means for what it holds.
  private struct Change {
    /// What leads from there to here; nil if it is not known, or no device could follow.
    let upgrade: SchemaUpgrade?
    /// The same if the log goes on: rows have more to them, or less, or under other names. Otherwise everything that follows from
    /// the rows is derived anew, in a new epoch.
    var goingOn: SchemaUpgrade? { upgrade.flatMap { $0.keepsLog ? $0 : nil } }
  }

  /// Makes what is missing.
  ///
  /// - Parameters:
  ///   - epoch: begins now if the file is new, or was made with a version of the schema whose log says nothing under this one.
  ///   - earlier: versions that the file need not have been served by, of which devices may come.
  /// - Returns: whether a run of the sequencer is wanted in the same transaction.
  func create(on connection: SQLiteConnection, epoch: String, earlier: [Schema] = []) throws -> Bool {
    for statement in ServerSchema.ownTables { try connection.execute(statement) }
    let schema = catalog.schema
    try connection.run(
      """
      INSERT OR IGNORE INTO skerry_history(id, app, version, schema, epoch, head, floor, safe)
      VALUES (1, ?, ?, ?, ?, 0, 0, 0)
      """, .text(schema.name), .integer(Int64(schema.version)), .blob(schema.fingerprint), .text(epoch))
    let versions = SchemaVersions(catalog, connection)
    let change = try checkSchema(on: connection, versions)
    try versions.keep(announced: earlier)
    let tables = EarlierTables(catalog, try triggers(on: connection), change?.upgrade)
    if let change {
      let isAnew = change.goingOn == nil
      if isAnew { try tables.renameTables(on: connection) }
      try tables.checkRemovedColumns(on: connection)
      for trigger in try triggers(on: connection) {
        try connection.execute("DROP TRIGGER \(TableSQL.quoted(trigger))")
      }
      if isAnew { try forget(on: connection, epoch: epoch) }
      try tables.alterColumns(on: connection)
    }
    for table in catalog.tables {
      let isNew = !tables.wasCaptured(table)
      try ExistingTable(table).check(on: connection, isNew: isNew)
      try UniqueTriggers(table).checkRows(on: connection)
      for statement in statements(of: table) + captures(of: table, change) { try connection.execute(statement) }
    }
    for table in catalog.tables { try ExistingTable(table).checkStatements(on: connection) }
    if let upgrade = change?.goingOn { try HashRecount(catalog, connection).run(after: upgrade) }
    return change != nil
  }

  private func captures(of table: TableInfo, _ change: Change?) -> [String] {
    let triggers = CaptureTriggers(table)
    guard let change else { return triggers.adoption }
    guard let upgrade = change.goingOn else { return triggers.recapture + triggers.adoption }
    let old = upgrade.tables.first { $0.new.name == table.name }
    let added = table.columns.indices.filter { old?.sources[$0] == nil }
    return (old == nil ? [] : triggers.recapture(withValuesIn: added)) + triggers.adoption
  }

  private func triggers(on connection: SQLiteConnection) throws -> [String] {
    try connection.query(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND substr(name, 1, 7) = 'skerry_'"
    ) { $0.text(0) }
  }

  /// Forgets what follows from the rows and the schema: spaces, log, memberships, digests, the sequencer's memory, and all of
  /// tables that are not declared any more. What other programs and devices did stays: rows with their versions and
  /// incarnations, receipts, numbers and the safe mark. In the new epoch every device refills, and offers its unsent work
  /// again.
  private func forget(on connection: SQLiteConnection, epoch: String) throws {
    for table in ["skerry_log", "skerry_members", "skerry_spaces"] { try connection.execute("DELETE FROM \(table)") }
    // Every row is captured anew. Receipts are not derived: their captures wait for their positions.
    try connection.execute("DELETE FROM skerry_captures WHERE tbl <> '\(ServerSchema.receiptTable)'")
    let declared = catalog.tables.map { "'\($0.name)'" }.joined(separator: ", ")
    try connection.execute("DELETE FROM skerry_rows WHERE dead = 1 OR tbl NOT IN (\(declared))")
    try connection.execute("UPDATE skerry_rows SET spaces = NULL, hash = NULL, members = NULL")
    try connection.run("UPDATE skerry_history SET epoch = ?", .text(epoch))
  }

  /// The name under which captures hold receipts; no table can have it.
  static let receiptTable = "$receipt"

  /// The triggers were made for one schema, and so was everything derived.
  ///
  /// - Returns: nil unless the file was made with an earlier version of the same app's schema.
  private func checkSchema(on connection: SQLiteConnection, _ versions: SchemaVersions) throws -> Change? {
    let found = try connection.first("SELECT app, version, schema FROM skerry_history") {
      ($0.text(0), $0.integer(1), $0.blob(2))
    }
    let schema = catalog.schema
    guard let (app, version, fingerprint) = found, fingerprint != schema.fingerprint else {
      try versions.keep(schema, isNew: false)
      return nil
    }
    guard app == schema.name, version < Int64(schema.version) else {
      let isSame = app == schema.name && version == Int64(schema.version)
      throw StorageError.otherSchema(
        "the database was made with schema \(app) \(version), the server was started with \(schema.name) \(schema.version)"
          + (isSame
            ? ", which declares something else under that number; count the version up" : "; start the newer server"))
    }
    try connection.run(
      "UPDATE skerry_history SET version = ?, schema = ?", .integer(Int64(schema.version)), .blob(schema.fingerprint))
    let earlier = try versions.schema(Int(clamping: version))
    try versions.keep(schema, isNew: true)
    return Change(upgrade: earlier.flatMap { try? SchemaUpgrade(from: $0, to: schema) })
  }

  private static let ownTables = [
    // The mutation that is being written, by this server; foreign writers find it empty.
    "CREATE TABLE IF NOT EXISTS skerry_writer(tag BLOB NOT NULL, idx INTEGER NOT NULL) STRICT",
    // AUTOINCREMENT, since a number must never be given twice, not even after its capture has gone.
    """
    CREATE TABLE IF NOT EXISTS skerry_captures(
      n INTEGER PRIMARY KEY AUTOINCREMENT, tbl TEXT NOT NULL, key TEXT NOT NULL, op INTEGER NOT NULL,
      tag BLOB NOT NULL) STRICT
    """,
    // The row headers, and what the sequencer remembers of each row. A dead row stays until its end is sequenced.
    """
    CREATE TABLE IF NOT EXISTS skerry_rows(
      tbl TEXT NOT NULL, key TEXT NOT NULL, n INTEGER NOT NULL, tag BLOB NOT NULL, inc BLOB NOT NULL,
      idx INTEGER NOT NULL, dead INTEGER NOT NULL, spaces BLOB, hash BLOB, members BLOB,
      PRIMARY KEY(tbl, key)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS skerry_history(
      id INTEGER PRIMARY KEY CHECK (id = 1), app TEXT NOT NULL, version INTEGER NOT NULL, schema BLOB NOT NULL,
      epoch TEXT NOT NULL, head INTEGER NOT NULL, floor INTEGER NOT NULL, safe INTEGER NOT NULL) STRICT
    """,
    // The versions that the file was served by, and when that began; without a position, those that are only announced.
    """
    CREATE TABLE IF NOT EXISTS skerry_schemas(
      version INTEGER PRIMARY KEY, fingerprint BLOB NOT NULL, schema TEXT NOT NULL, since INTEGER) STRICT
    """,
    "CREATE TABLE IF NOT EXISTS skerry_runs(last INTEGER PRIMARY KEY, nonce TEXT NOT NULL) STRICT",
    """
    CREATE TABLE IF NOT EXISTS skerry_spaces(
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, head INTEGER NOT NULL, sum BLOB NOT NULL,
      count INTEGER NOT NULL) STRICT
    """,
    """
    CREATE TABLE IF NOT EXISTS skerry_log(
      space INTEGER NOT NULL, tbl TEXT NOT NULL, key TEXT NOT NULL, pos INTEGER NOT NULL, kind INTEGER NOT NULL,
      PRIMARY KEY(space, tbl, key)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS skerry_log_pos ON skerry_log(space, pos)",
    "CREATE INDEX IF NOT EXISTS skerry_log_dead ON skerry_log(pos) WHERE kind <> 0",
    """
    CREATE TABLE IF NOT EXISTS skerry_members(
      user TEXT NOT NULL, space TEXT NOT NULL, pos INTEGER NOT NULL, inside INTEGER NOT NULL,
      PRIMARY KEY(user, space)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS skerry_replicas(
      replica TEXT PRIMARY KEY, user TEXT NOT NULL, settled INTEGER NOT NULL) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS skerry_numbers(
      replica TEXT NOT NULL, n INTEGER NOT NULL, mid BLOB NOT NULL, shrunk INTEGER NOT NULL,
      PRIMARY KEY(replica, n)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS skerry_numbers_full ON skerry_numbers(replica, n) WHERE shrunk = 0",
    """
    CREATE TABLE IF NOT EXISTS skerry_receipts(
      user TEXT NOT NULL, mid BLOB NOT NULL, hash BLOB NOT NULL, outcome TEXT NOT NULL, code TEXT, reason TEXT,
      PRIMARY KEY(user, mid)) STRICT, WITHOUT ROWID
    """,
    // Whether another account has used an id.
    "CREATE INDEX IF NOT EXISTS skerry_receipts_mid ON skerry_receipts(mid)",
    // Position 0: not sequenced yet.
    """
    CREATE TABLE IF NOT EXISTS skerry_homes(
      replica TEXT NOT NULL, user TEXT NOT NULL, mid BLOB NOT NULL, pos INTEGER NOT NULL,
      PRIMARY KEY(replica, user, mid)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS skerry_homes_pos ON skerry_homes(replica, pos)",
    "CREATE INDEX IF NOT EXISTS skerry_homes_receipt ON skerry_homes(user, mid)",
  ]

  private func tableStatements(_ table: TableInfo) -> [String] {
    let sql = TableSQL(table)
    let columns =
      zip(ServerSchema.columnDeclarations(table), table.columns).map { declaration, column in
        [declaration, ServerSchema.reference(column, catalog)].compactMap(\.self).joined(separator: " ")
      } + [sql.primaryKey]
    var out = ["CREATE TABLE IF NOT EXISTS \(sql.name)(\(columns.joined(separator: ", "))) STRICT"]
    // The columns that lead to a row's children, members and owners are looked up on each judgement and each move.
    // So are those of references, whenever the row that they name goes.
    let references = table.columns.filter { $0.reference != nil }.map(\.name)
    let indexed = Set(table.spaces.compactMap(\.column) + references).subtracting([table.definition.key[0]])
    for column in indexed.sorted() {
      out.append(
        "CREATE INDEX IF NOT EXISTS \"skerry_\(table.name)_\(column)\" ON \(sql.name)(\(TableSQL.quoted(column)))")
    }
    for info in table.memberships {
      let names = [info.user, info.space].map { TableSQL.quoted(table.columns[$0].name) }.joined(separator: ", ")
      out.append("CREATE INDEX IF NOT EXISTS \"skerry_members_\(table.name)_\(info.kind)\" ON \(sql.name)(\(names))")
    }
    return out + sql.indexes
  }

  /// Deferred, since a mutation may write a row before the one that it refers to. Said with the column, so that the column can be
  /// dropped.
  static func reference(_ column: ColumnDefinition, _ catalog: Catalog) -> String? {
    guard let reference = column.reference, let target = catalog.table(reference.table) else { return nil }
    let action =
      switch reference.onDelete {
      case .restrict: "NO ACTION"
      case .cascade: "CASCADE"
      case .setNull: "SET NULL"
      }
    return """
      REFERENCES \(TableSQL(target).name)(\(TableSQL(target).keyColumns))
      ON DELETE \(action) DEFERRABLE INITIALLY DEFERRED
      """
  }

  /// Each with its own check, so that it can be dropped alone.
  static func columnDeclarations(_ table: TableInfo) -> [String] {
    zip(TableSQL(table).columnDeclarations(enforceNull: true), table.columns).map { declaration, column in
      declaration + (check(column).map { " " + $0 } ?? "")
    }
  }

  /// What no device could send may not come in by other programs either: one such row would hold up every pull.
  private static func check(_ column: ColumnDefinition) -> String? {
    let name = TableSQL.quoted(column.name)
    return switch column.type {
    case .text, .json, .decimal, .date, .uuid:
      "CHECK (instr(\(name), char(0)) = 0 AND length(\(name)) <= \(Limits.rowBytes))"
    case .boolean: "CHECK (\(name) IN (0, 1))"
    case .real: "CHECK (abs(\(name)) <= 1.7976931348623157e308)"
    case .blob: "CHECK (length(\(name)) <= \(Limits.rowBytes))"
    case .integer, .timestamp: nil
    }
  }
}
