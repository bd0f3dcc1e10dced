// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerrySQLiteKit
import SkerryTables

/// One device's copy: records, outbox, overlay, pages and cursor in one SQLite file.
///
/// Everything here is synchronous and belongs to one executor; `Replica` is the actor that owns it. One method that changes
/// something is one transaction, durable when it returns. What is kept in memory only (`answered`, `clock`) may be lost at any
/// time: it saves a repeated offer and nothing else.
package final class Store {
  package let catalog: Catalog
  package let account: AccountID
  package let path: String
  let connection: SQLiteConnection
  let ambient: any Ambient
  /// A catch-up of more items than this is published page by page, and said to be.
  package var longCatchUp: Int64 = 5_000

  var state: ReplicaState
  /// When a verdict came for an entry whose receipt has not been published; by `clock`.
  var answered: [MutationID: Int] = [:]
  /// The lowest number in the outbox, while it is known. New entries get higher ones.
  var lowestNumber: Int64?
  /// Counts messages that were taken in, to tell which pulls were asked for after a verdict.
  package internal(set) var clock = 0
  var spaces: SpaceTable
  /// Changes when another connection has committed.
  private var dataVersion: Int64
  /// Whether rows have gone whose values may still be in the WAL. True at first: the process before may have died between the
  /// commit that removed some and the purge.
  var needsPurge = true
  /// The tables of the records that were met.
  var recordTables: [ObjectIdentifier: TableInfo] = [:]
  /// Called after each commit with the tables of which rows were changed.
  package var onCommit: (Set<String>) -> Void = { _ in }
  /// Called when another connection is found to have changed the file.
  package var onOthersCommit: () -> Void = {}

  /// Opens a file, and makes it if it is missing.
  ///
  /// - Parameter vfs: SQLite's name of the file system that the file is on; nil for its default.
  /// - Throws: `StoreError` with code `otherAccount`, `otherSchema` or `damaged`, the file unchanged; `SQLiteError`.
  package init(path: String, account: AccountID, catalog: Catalog, ambient: any Ambient, vfs: String? = nil) throws {
    let connection = try SQLiteConnection(path: path, mode: .writer, vfs: vfs)
    try connection.execute("PRAGMA secure_delete = ON")  // others' values do not outlive a lost access in free pages
    let state = try connection.transaction(.immediate) {
      try Store.prepare(connection, account: account, catalog: catalog, ambient: ambient)
    }
    connection.watchChanges()
    self.connection = connection
    self.path = path
    self.account = account
    self.catalog = catalog
    self.ambient = ambient
    self.state = state
    spaces = SpaceTable(connection)
    dataVersion = try connection.dataVersion()
  }

  private static func prepare(
    _ connection: SQLiteConnection, account: AccountID, catalog: Catalog, ambient: any Ambient
  ) throws -> ReplicaState {
    let hasState =
      try connection.first(
        "SELECT 1 FROM sqlite_schema WHERE name = 'skerry_state'"
      ) { _ in true } ?? false
    if hasState, let old = try checkOwner(connection, account: account, schema: catalog.schema) {
      try StoreMigration(connection, catalog, from: old).run()
    }
    try ClientSchema(catalog).create(on: connection)
    if let state = try ReplicaState.read(from: connection) { return state }
    let state = ReplicaState(ids: [ambient.makeReplicaID()])
    try connection.run(
      """
      INSERT INTO skerry_state(id, format, account, app, version, schema, ids, counter, made, long, count, mismatches)
      VALUES (1, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0)
      """, .integer(ClientSchema.format), .text(account.text), .text(catalog.schema.name),
      .integer(Int64(catalog.schema.version)), .text(try SchemaText.encode(catalog.schema)), .text(state.id.text))
    return state
  }

  /// - Returns: the schema with which the file was made, if it is another one.
  private static func checkOwner(
    _ connection: SQLiteConnection, account: AccountID, schema: Schema
  ) throws -> Schema? {
    // Another format may lack what comes after it.
    let format = try connection.first("SELECT format FROM skerry_state") { $0.integer(0) }
    if let format, format != ClientSchema.format {
      throw StoreError(
        .otherSchema, "the file has format \(format), this library reads \(ClientSchema.format); update the app")
    }
    let found = try connection.first("SELECT account, app, version, schema FROM skerry_state") {
      (AccountID($0.text(0)), $0.text(1), Int($0.integer(2)), $0.text(3))
    }
    guard let (owner, app, version, text) = found else { return nil }
    if owner != account {
      throw StoreError(.otherAccount, "the file belongs to another account; open one store per account")
    }
    if app != schema.name || version > schema.version {
      throw StoreError(
        .otherSchema,
        "the file was made with \(app) \(version), opened with \(schema.name) \(schema.version); open it with the newer app"
      )
    }
    guard let old = SchemaText.decode(text) else {
      throw StoreError(.damaged, "skerry_state holds a schema that cannot be read")
    }
    return old == schema ? nil : old
  }

  /// Runs a closure as one transaction; when it throws, what is kept in memory is as before too.
  @discardableResult
  func transaction<T>(_ body: () throws -> T) throws -> T {
    var before = (state, answered, clock)
    _ = connection.takeChangedTables()
    do {
      let result = try connection.transaction(.immediate) {
        try noticeOthers()
        before.0 = state
        let result = try body()
        if state != before.0 { try state.write(to: connection) }
        return result
      }
      onCommit(connection.takeChangedTables())
      return result
    } catch {
      (state, answered, clock) = before
      lowestNumber = nil
      spaces = SpaceTable(connection)
      throw error
    }
  }

  /// Reads anew what is kept in memory if another connection has written the file: an extension of the app, or a second store
  /// on it.
  private func noticeOthers() throws {
    let version = try connection.dataVersion()
    if version == dataVersion { return }
    guard let found = try ReplicaState.read(from: connection) else {
      throw StoreError(.damaged, "skerry_state is empty; the file was overwritten by something else")
    }
    let made = try connection.first("SELECT version FROM skerry_state") { Int($0.integer(0)) }
    if made != catalog.schema.version {
      throw StoreError(
        .otherSchema,
        "another process has brought the file to version \(made ?? 0) of the schema, this one has \(catalog.schema.version); start the newer app"
      )
    }
    state = found
    lowestNumber = nil
    spaces = SpaceTable(connection)
    dataVersion = version
    onOthersCommit()
  }

  /// Takes others' values out of the WAL after rows have gone: `secure_delete` clears the file's own pages only. While a reader
  /// still needs older pages, the next page tries again.
  func purge() {
    guard needsPurge else { return }
    // It waits for nobody: the app's own writes are next in the queue.
    let isDone = try? connection.withBusyTimeout(0) { try connection.checkpoint(truncating: true) }
    if isDone == true { needsPurge = false }
  }

  /// The ids that this file has had, the one in use last.
  package var replicaIDs: [ReplicaID] { state.ids }
  package var replicaID: ReplicaID { state.id }
  package var cursor: Cursor? { state.cursor }
  /// Whether a long catch-up is being published page by page, so that half of a change may be visible.
  package var isCatchingUp: Bool { state.isLong }
  package var digestMismatches: Int64 { state.mismatches }
  package var syncedAt: Int64? { state.syncedAt }

  /// Every mutation up to this number is published.
  package func settledMark() throws -> Int64 {
    if lowestNumber == nil {
      // No index keeps the order of numbers: each write would pay for it, and this is asked once a request.
      lowestNumber =
        try connection.first("SELECT min(n) FROM skerry_outbox") { $0.isNull(0) ? nil : $0.integer(0) } ?? nil
    }
    return (lowestNumber ?? state.counter + 1) - 1
  }

  /// The absolute path of the file, by the database's own account.
  package var filePath: String { connection.filePath ?? path }

  /// Gives a closure the connection, for tests that count its calls or let it die.
  package func withConnection<T>(_ body: (SQLiteConnection) throws -> T) rethrows -> T { try body(connection) }
}
