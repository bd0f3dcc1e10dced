// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerrySQLiteKit
import SkerryTables

extension Store {
  /// Whether a file is a device's, by the names of its tables.
  package static func isStore(_ connection: SQLiteConnection) throws -> Bool {
    try connection.first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'skerry_state'") { _ in true }
      ?? false
  }

  /// How many rows the app has brought along that no sync has confirmed.
  package func unconfirmedCount() throws -> Int {
    // None is left once the store has been in step with the server.
    state.syncedAt == nil ? Int(try Guesses.count(connection)) : 0
  }

  /// Looks into a device's file without opening a store on it. A caller that wants all of it as of one moment has a
  /// transaction open; each table is counted by going through it once.
  ///
  /// - Throws: `StoreError` with code `otherSchema` for a format that this library does not read, or `damaged`.
  package static func inspect(_ connection: SQLiteConnection) throws -> StoreReport {
    var report = try StoreReport(header: connection)
    report.lostSpaces = try connection.query("SELECT space FROM skerry_lost ORDER BY space") { SpaceID($0.text(0)) }
    report.spaces = try StoreReport.spaces(connection, report, lost: report.lostSpaces)
    report.tables = try StoreReport.tables(connection)
    report.outbox = try StoreReport.outbox(connection)
    report.refusals = try Rejection.all(on: connection).map(StoreReport.Refusal.init)
    report.decisions = try PastDecision.all(on: connection)
    report.archived = try connection.first("SELECT count(*) FROM skerry_archive") { $0.integer(0) } ?? 0
    return report
  }

  /// The statements that make an empty file a device's, in order.
  package static func statements(for catalog: Catalog) -> [String] { ClientSchema(catalog).statements }
}

extension StoreReport {
  /// What the file says of itself.
  init(header connection: SQLiteConnection) throws {
    let header = try connection.first("SELECT format, account, app, version FROM skerry_state") {
      ($0.integer(0), AccountID($0.text(1)), $0.text(2), $0.integer(3))
    }
    guard let header else {
      throw StoreError(.damaged, "one row was expected in skerry_state, none found; take another copy of the file")
    }
    (format, account, app, version) = header
    if format != ClientSchema.format {
      throw StoreError(
        .otherSchema, "the file has format \(format), this program reads \(ClientSchema.format); use a newer one")
    }
    guard let state = try ReplicaState.read(from: connection) else { return }
    (replicas, cursor, syncedAt) = (state.ids, state.cursor, state.syncedAt)
    (items, mismatches) = (state.count, state.mismatches)
    phase = StoreReport.phase(state, isHolding: try !Stage(connection).isEmpty)
  }

  private static func phase(_ state: ReplicaState, isHolding: Bool) -> Phase {
    guard let cursor = state.cursor else { return .neverSynced }
    if state.isLong { return .longCatchUp }
    if !cursor.isWhole { return .filling }
    return isHolding || state.count > 0 ? .catchUp : .atRest
  }

  /// The spaces in byte order; a device's own receipts are in none of them.
  static func spaces(_ connection: SQLiteConnection, _ header: StoreReport, lost: [SpaceID]) throws -> [Space] {
    let open = Set(header.cursor?.open.map(\.space) ?? [])
    let lost = Set(lost)
    let met = try connection.query("SELECT name, count FROM skerry_spaces ORDER BY name") {
      (SpaceID($0.text(0)), $0.integer(1))
    }
    return met.filter { !$0.0.holdsReceipts }.map { name, rows in
      // Nobody can lose their own space, so it is filled without a row in it too.
      let isHeld = rows > 0 || name == .user(header.account)
      let state: Space.State = open.contains(name) ? .filling : isHeld ? .filled : lost.contains(name) ? .lost : .empty
      return Space(name: name, rows: rows, state: state)
    }
  }

  /// The app's tables are those with the hidden columns; the schema itself is not kept in the file.
  fileprivate static func tables(_ connection: SQLiteConnection) throws -> [Table] {
    let names = try connection.query(
      """
      SELECT name FROM sqlite_schema AS t WHERE type = 'table'
        AND EXISTS (SELECT 1 FROM pragma_table_xinfo(t.name, 'main') WHERE name = 'skerry_tag') ORDER BY name
      """
    ) { $0.text(0) }
    return try names.map { try table($0, connection) }
  }

  private static func table(_ name: String, _ connection: SQLiteConnection) throws -> Table {
    func count(_ sql: String, _ values: SQLiteValue...) throws -> Int64 {
      try connection.statement(sql).first(values) { $0.integer(0) } ?? 0
    }
    // A connection of a replica's has views of the same names.
    let quoted = "main." + TableSQL.quoted(name)
    let touched = try count("SELECT count(*) FROM \(quoted) WHERE skerry_state = 1")
    let rows = try count("SELECT count(*) FROM \(quoted)")
    let bases = try count("SELECT count(*) FROM skerry_base WHERE tbl = ?", .text(name))
    // They stand where confirmed rows would.
    let guesses = try Guesses.count(in: name, connection)
    return Table(
      name: name, rows: rows, confirmed: rows - touched + bases - guesses, unconfirmed: guesses,
      pending: try count("SELECT count(DISTINCT key) FROM skerry_subjects WHERE tbl = ? AND role > 0", .text(name)),
      staged: try count("SELECT count(DISTINCT key) FROM skerry_stage WHERE kind = 0 AND tbl = ?", .text(name)))
  }

  fileprivate static func outbox(_ connection: SQLiteConnection) throws -> [Entry] {
    // One after the other: a statement that is being stepped through cannot be asked for another entry's rows.
    var entries = try connection.query(
      """
      SELECT made, mid, n, label, at, void, sent, dormant, failed, attempts, error, length(ops) FROM skerry_outbox
      ORDER BY made
      """, row: Entry.init(row:))
    for index in entries.indices {
      entries[index].after = try Predecessors(connection).of(entries[index].made)
      entries[index].keys = try Subjects.of(entries[index].made, on: connection).touched
    }
    return entries
  }
}

extension StoreReport.Entry {
  fileprivate init(row: SQLiteRow) throws {
    guard let id = MutationID(bytes: row.blob(1)) else { throw StoreError(.damaged, "id of an outbox entry") }
    let state = State(
      isVoid: row.integer(5) != 0, isSent: row.integer(6) != 0, isDormant: row.integer(7) != 0,
      isSetAside: row.integer(8) != 0)
    self.init(
      id: id, made: row.integer(0), number: row.integer(2), label: row.isNull(3) ? nil : row.text(3),
      madeAt: row.integer(4), state: state, isSent: row.integer(6) != 0, attempts: Int(row.integer(9)),
      lastError: row.isNull(10) ? nil : row.text(10), bytes: Int(row.integer(11)))
  }
}

extension StoreReport.Entry.State {
  init(isVoid: Bool, isSent: Bool, isDormant: Bool, isSetAside: Bool) {
    self = isDormant ? .dormant : isSetAside ? .setAside : isVoid ? .void : isSent ? .sent : .waiting
  }
}

extension StoreReport.Refusal {
  fileprivate init(_ rejection: Rejection) {
    self.init(
      id: rejection.id, outcome: rejection.outcome, code: rejection.code, reason: rejection.reason,
      label: rejection.label, at: rejection.at, keys: Set(rejection.operations.map(\.key)).sorted())
  }
}
