// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryTables

/// Brings a file from an earlier version of the schema to a later one, in the transaction that opens it: rows, bases, held pages,
/// outbox, archive and inbox. Nothing that was written is lost; when it cannot be done, the file is as before.
///
/// Columns are added and renamed without touching a row. A table is read through once if its rows hash to something else by now
/// (something was renamed or removed, or has a default), and written once for each column that is removed.
struct StoreMigration {
  private let connection: SQLiteConnection
  private let catalog: Catalog
  private let upgrade: SchemaUpgrade

  init(_ connection: SQLiteConnection, _ catalog: Catalog, from old: Schema) throws {
    self.connection = connection
    self.catalog = catalog
    upgrade = try SchemaUpgrade(from: old, to: catalog.schema)
  }

  func run() throws {
    // A file that is older than some of these tables has nothing in them.
    for (_, statement) in ClientSchema.own { try connection.execute(statement) }
    try dropIndexes()
    for name in upgrade.removed { try connection.execute("DROP TABLE IF EXISTS \(TableSQL.quoted(name))") }
    try renameTables()
    for table in upgrade.tables + upgrade.localTables { try alter(table) }
    try convertImages()
    try convertEntries()
    try renameKeys()
    try forgetPlaces()
    try ClientSchema(catalog).create(on: connection)
    if upgrade.tables.contains(where: \.changesHashes) || !upgrade.removed.isEmpty {
      try ConfirmedRows(connection, catalog, SpaceTable(connection)).recount()
    }
    try connection.run(
      "UPDATE skerry_state SET version = ?, schema = ?", .integer(Int64(catalog.schema.version)),
      .text(try SchemaText.encode(catalog.schema)))
  }

  // MARK: The app's tables

  /// Those that are declared no more, before their columns go; the others are made when all tables are there.
  private func dropIndexes() throws {
    let schema = ClientSchema(catalog)
    let declared = Set((catalog.tables + catalog.localTables).flatMap(schema.indexes))
    let found = try connection.query(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND substr(name, 1, 13) = 'skerry_index_'"
    ) { ($0.text(0), $0.text(1)) }
    // SQLite keeps the statement without the words that say when to pass over it.
    let kept = Set(declared.map { $0.replacingFirst("CREATE INDEX IF NOT EXISTS", with: "CREATE INDEX") })
    for (name, sql) in found where !kept.contains(sql) { try connection.execute("DROP INDEX \(TableSQL.quoted(name))") }
  }

  private func renameTables() throws {
    let renamed = (upgrade.tables + upgrade.localTables).filter { $0.old.name != $0.new.name }
    let statements = Renaming.statements(renamed.map { ($0.old.name, $0.new.name) }) { old, new in
      "ALTER TABLE \(TableSQL.quoted(old)) RENAME TO \(TableSQL.quoted(new))"
    }
    for statement in statements { try connection.execute(statement) }
  }

  private func alter(_ table: SchemaUpgrade.Table) throws {
    let name = TableSQL.quoted(table.new.name)
    for column in table.old.columns where table.name(of: column.name) == nil {
      try connection.execute("ALTER TABLE \(name) DROP COLUMN \(TableSQL.quoted(column.name))")
    }
    for statement in Renaming.statements(columns: table.renamedColumns, of: table.new.name) {
      try connection.execute(statement)
    }
    guard let info = catalog.table(table.new.name) ?? catalog.localTable(table.new.name) else { return }
    let declarations = TableSQL(info).columnDeclarations(enforceNull: false)
    for (index, column) in table.new.columns.enumerated() where table.sources[index] == nil {
      let first = column.initialValue
      let standard = first.isNull ? "" : " DEFAULT \(TableSQL.literal(first))"
      try connection.execute("ALTER TABLE \(name) ADD COLUMN \(declarations[index])\(standard)")
    }
  }

  // MARK: What lies beside them

  /// Values of bases and held rows are kept in the order of the columns.
  private func convertImages() throws {
    for table in upgrade.tables where table.sources != Array(table.old.columns.indices.map(Optional.some)) {
      let bases = try connection.query("SELECT key, image FROM skerry_base WHERE tbl = ?", .text(table.old.name)) {
        ($0.blob(0), $0.blob(1))
      }
      for (key, image) in bases {
        let row = try RowKey(table: table.old.name, bytes: key)
        let values = table.values(try RowImageCoding.decode(image, row))
        try connection.run(
          "UPDATE skerry_base SET image = ? WHERE tbl = ? AND key = ?", .blob(RowImageCoding.encode(values)),
          .text(table.old.name), .blob(key))
      }
      try Stage(connection).convert(table)
    }
  }

  private func convertEntries() throws {
    for source in ["skerry_outbox", "skerry_archive"] {
      let entries = try connection.query("SELECT made, ops, subjects, void FROM \(source) ORDER BY made") {
        ($0.integer(0), try Operation.decode($0.blob(1)), try Subjects(encoded: $0.blob(2)), $0.integer(3) != 0)
      }
      for (made, old, subjects, isVoid) in entries {
        let new = upgrade.operations(old)
        if new.isEmpty, !old.isEmpty, !isVoid { try giveUp(made, in: source) }
        let names = subjects.renamed(by: upgrade)
        if new == old, names == nil { continue }
        try connection.run(
          "UPDATE \(source) SET ops = ?, subjects = ? WHERE made = ?", .blob(Operation.encode(new)),
          .blob((names ?? subjects).sorted.encoded), .integer(made))
        try EntrySum.refresh(made, in: source, on: connection)
      }
    }
    let refusals = try connection.query("SELECT made, ops FROM skerry_inbox") {
      ($0.integer(0), try Operation.decode($0.blob(1)))
    }
    for (made, old) in refusals {
      let new = upgrade.operations(old)
      // What is left of nothing says nothing: then it stays as it was written.
      if new.isEmpty || new == old { continue }
      try connection.run("UPDATE skerry_inbox SET ops = ? WHERE made = ?", .blob(Operation.encode(new)), .integer(made))
    }
  }

  /// All that a mutation does is gone from the schema: it keeps its number, and the user's values wait to be seen.
  private func giveUp(_ made: Int64, in source: String) throws {
    try connection.run("UPDATE \(source) SET void = 1 WHERE made = ?", .integer(made))
    try EntrySum.refresh(made, in: source, on: connection)
    if source != "skerry_outbox" { return }
    try connection.run(
      """
      INSERT OR IGNORE INTO skerry_inbox(made, mid, outcome, code, reason, ops, label, at)
      SELECT made, mid, ?, ?, ?, ops, label, at FROM skerry_outbox WHERE made = ?
      """, .text(Outcome.rejected.rawValue), .text(RefusalCode.invalid.text),
      .text("version \(catalog.schema.version) of the app has no place for it any more"), .integer(made))
  }

  private func renameKeys() throws {
    for source in [
      "skerry_base", "skerry_pairs", "skerry_subjects", "skerry_stage", "skerry_guesses", "skerry_adopted",
    ] {
      for name in upgrade.removed { try connection.run("DELETE FROM \(source) WHERE tbl = ?", .text(name)) }
      let renamed = upgrade.tables.filter { $0.old.name != $0.new.name }
      for (index, table) in renamed.enumerated() {
        try connection.run("UPDATE \(source) SET tbl = ? WHERE tbl = ?", .text("$\(index)"), .text(table.old.name))
      }
      for (index, table) in renamed.enumerated() {
        try connection.run("UPDATE \(source) SET tbl = ? WHERE tbl = ?", .text(table.new.name), .text("$\(index)"))
      }
    }
  }

  /// A back-fill goes by the order of tables, which is another one: it begins again, and what is there already comes twice.
  private func forgetPlaces() throws {
    guard upgrade.tables.contains(where: { $0.old.name != $0.new.name }) || !upgrade.removed.isEmpty,
      var state = try ReplicaState.read(from: connection), let open = state.cursor?.open
    else { return }
    state.cursor?.open = open.map { OpenSpace(space: $0.space, target: $0.target) }
    try state.write(to: connection)
  }
}

extension String {
  /// The text with another beginning, if it has this one.
  fileprivate func replacingFirst(_ start: String, with new: String) -> String {
    hasPrefix(start) ? new + dropFirst(start.count) : self
  }
}
