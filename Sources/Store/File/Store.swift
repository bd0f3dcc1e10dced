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
  let place: StorePlace
  /// The version of the schema from which the file was brought to this one when it was opened; nil if it was not.
  package let migratedFrom: Int?
  /// nil while the store is suspended.
  private var open: SQLiteConnection?
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
  private var spaceTable: SpaceTable?
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
  package convenience init(
    path: String, account: AccountID, catalog: Catalog, ambient: any Ambient, vfs: String? = nil
  ) throws {
    try self.init(at: StorePlace(path, vfs: vfs), account: account, catalog: catalog, ambient: ambient)
  }

  /// - Throws: also `StoreError` with code `encryptionUnavailable` or `wrongKey`; what the place's key or policy throws.
  package init(at place: StorePlace, account: AccountID, catalog: Catalog, ambient: any Ambient) throws {
    let opened = try Store.open(place, account: account, catalog: catalog, ambient: ambient)
    self.place = place
    self.account = account
    self.catalog = catalog
    self.ambient = ambient
    open = opened.connection
    state = opened.state
    dataVersion = opened.dataVersion
    migratedFrom = opened.migratedFrom
  }

  // MARK: Suspending

  /// The connection that writes.
  ///
  /// - Throws: `StoreError` with code `suspended`.
  var connection: SQLiteConnection {
    get throws {
      guard let open else { throw StoreError.suspended }
      return open
    }
  }

  var spaces: SpaceTable {
    get throws {
      if let spaceTable { return spaceTable }
      let made = SpaceTable(try connection)
      spaceTable = made
      return made
    }
  }

  package var isSuspended: Bool { open == nil }

  /// Closes the file: no lock is left, and the WAL is moved into the file if nobody else has it open. What is kept in memory
  /// only stays.
  package func suspend() {
    spaceTable = nil
    open = nil
  }

  /// Opens the file again, and reads anew what others may have changed.
  ///
  /// - Throws: as the initialiser; the store is suspended then, as before.
  package func resume() throws {
    guard isSuspended else { return }
    let opened = try Store.open(place, account: account, catalog: catalog, ambient: ambient)
    open = opened.connection
    state = opened.state
    dataVersion = opened.dataVersion
    lowestNumber = nil
    needsPurge = true
  }

  /// Runs a closure as one transaction; when it throws, what is kept in memory is as before too.
  @discardableResult
  func transaction<T>(_ body: () throws -> T) throws -> T {
    let connection = try connection
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
      spaceTable = nil
      throw error
    }
  }

  /// Reads anew what is kept in memory if another connection has written the file: an extension of the app, or a second store
  /// on it.
  private func noticeOthers() throws {
    let connection = try connection
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
    spaceTable = nil
    dataVersion = version
    onOthersCommit()
  }

  /// Looks whether another connection has written the file, and reads anew what is kept in memory then.
  ///
  /// - Returns: whether one has put something into the outbox.
  package func noticeOtherConnections() throws -> Bool {
    let (version, made) = (dataVersion, state.made)
    if try connection.dataVersion() == version { return false }
    try connection.transaction(.deferred) { try noticeOthers() }
    return state.made > made
  }

  /// Takes others' values out of the WAL after rows have gone: `secure_delete` clears the file's own pages only. While a reader
  /// still needs older pages, the next page tries again.
  func purge() {
    guard needsPurge, let connection = open else { return }
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
  package var filePath: String { open?.filePath ?? place.path }

  /// Gives a closure the connection, for tests that count its calls or let it die.
  package func withConnection<T>(_ body: (SQLiteConnection) throws -> T) throws -> T { try body(connection) }
}
