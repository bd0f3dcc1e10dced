// SPDX-License-Identifier: Apache-2.0

import CSkerrySQLite

/// One connection to one database file.
///
/// Owned by one executor, or guarded by one lock, at a time: it is not `Sendable`. Statements are cached by their text and
/// live as long as the connection. A transaction that is open when the connection goes away is rolled back.
public final class SQLiteConnection {
  /// How a file is opened.
  public enum Mode: Sendable {
    /// Creates the file if it is missing. Among the connections of one process, one writes and checkpoints.
    case writer
    /// Reads only; the file must be there.
    case reader
    /// Reads only a file that nobody has open or changes meanwhile: no lock is taken, and no file is made beside it
    /// (https://www.sqlite.org/uri.html#uriimmutable). What a `-wal` holds is not seen.
    case immutable
  }

  /// Called before each step that may reach the file, with the statement; whatever it throws is thrown by the call.
  /// Tests count with it, and let a process die at the n-th call.
  package typealias Monitor = (_ sql: String) throws -> Void

  /// One for each text that an ordinary process uses, many times over; texts that are made anew each time must not pile up.
  private static let cachedStatements = 300

  private let handle: DatabaseHandle
  private let busyTimeout: Int32
  private var statements: [String: SQLiteStatement] = [:]
  private var named: [StatementName: SQLiteStatement] = [:]
  package var monitor: Monitor?
  /// Whether `transaction` is at work, and what has ended its chances.
  var isInScope = false
  var failure: SQLiteError?
  var changes: ChangedTables?
  var reads: ReadTables?

  var database: OpaquePointer { handle.pointer }

  /// Opens a file.
  ///
  /// A writer is set to WAL and `synchronous=FULL`, so that a transaction that has committed survives power loss (NORMAL was
  /// measured to lose acknowledged commits), and no SQL may touch the file's own structures.
  ///
  /// - Parameters:
  ///   - busyTimeout: how long a call waits for another connection's lock, in milliseconds.
  ///   - vfs: SQLite's name of the file system that the file is on (https://www.sqlite.org/vfs.html); nil for its default.
  /// - Throws: `SQLiteError`; the file is not changed.
  public convenience init(path: String, mode: Mode, busyTimeout: Int32 = 5_000, vfs: String? = nil) throws {
    try self.init(path: path, mode: mode, busyTimeout: busyTimeout, vfs: vfs, key: nil)
  }

  /// - Parameter key: asked for the key of an encrypted file, after it is known that this SQLite can encrypt.
  /// - Throws: `CipherError` as well, or what `key` throws; the file is not changed.
  package init(path: String, mode: Mode, busyTimeout: Int32 = 5_000, vfs: String? = nil, key: CipherKey?) throws {
    // Before the file is made: one in clear must not come of it.
    if key != nil { try Cipher.check() }
    let access = mode == .writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
    handle =
      mode == .immutable
      ? try DatabaseHandle.open(SQLiteConnection.immutableName(path), flags: flags | SQLITE_OPEN_URI, vfs: vfs)
      : try DatabaseHandle.open(path, flags: flags, vfs: vfs)
    self.busyTimeout = busyTimeout
    sqlite3_busy_timeout(handle.pointer, busyTimeout)
    if let key {
      // Whoever has the wrong key moves nothing into the file when it closes it.
      skerry_checkpoint_on_close(handle.pointer, 0)
      try Cipher.unlock(handle.pointer, with: key())
      skerry_checkpoint_on_close(handle.pointer, 1)
    }
    skerry_set_defensive(handle.pointer)
    // Phones' SQLite lacks Debian's compile options, so nothing is left to a default.
    try execute("PRAGMA foreign_keys = OFF")
    try execute("PRAGMA trusted_schema = OFF")
    try execute("PRAGMA mmap_size = 0")
    switch mode {
    case .reader, .immutable:
      skerry_checkpoint_on_close(handle.pointer, 0)
      try execute("PRAGMA query_only = ON")
      try execute("PRAGMA wal_autocheckpoint = 0")
    case .writer:
      let journal = try query("PRAGMA journal_mode = WAL") { $0.text(0) }.first
      guard journal == "wal" || path == ":memory:" else {
        throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: "WAL is not to be had here, found \(journal ?? "-")")
      }
      try execute("PRAGMA synchronous = FULL")
      try execute("PRAGMA fullfsync = ON")
      try execute("PRAGMA checkpoint_fullfsync = ON")
      try execute("PRAGMA wal_autocheckpoint = 1000")
    }
  }

  /// The path as a URI, in which each byte that is not plain is a percent and two digits.
  private static func immutableName(_ path: String) -> String {
    let plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8
    let encoded = path.utf8.map { byte in
      plain.contains(byte)
        ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    // An absolute path needs the empty host in front: `//x` alone would name one.
    return (path.utf8.first == UInt8(ascii: "/") ? "file://" : "file:") + encoded.joined() + "?immutable=1"
  }

  /// Runs statements without parameters, one after the other.
  public func execute(_ sql: String) throws(SQLiteError) {
    try observe(sql)
    let result = sqlite3_exec(database, sql, nil, nil, nil)
    if result != SQLITE_OK { throw error(result, sql) }
  }

  /// The statement with this text, prepared once and kept; the cache is emptied when it holds too many.
  public func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    if let known = statements[sql] { return known }
    if statements.count >= SQLiteConnection.cachedStatements { statements.removeAll() }
    let statement = try SQLiteStatement(sql, on: self)
    statements[sql] = statement
    return statement
  }

  /// The statement with this name, prepared once and kept; its text is asked for only then. For statements that run for each
  /// row, where putting the text together and looking it up would cost as much as the row.
  package func statement(_ name: StatementName, text: () -> String) throws(SQLiteError) -> SQLiteStatement {
    if let known = named[name] { return known }
    let statement = try SQLiteStatement(text(), on: self)
    named[name] = statement
    return statement
  }

  /// Runs a statement that returns no rows.
  ///
  /// - Returns: the number of rows that it changed.
  @discardableResult
  public func run(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) -> Int {
    try statement(sql).run(values)
  }

  /// Runs a query and gives each row to a closure; the row is valid within it only.
  public func query<T>(_ sql: String, _ values: SQLiteValue..., row: (SQLiteRow) throws -> T) throws -> [T] {
    try statement(sql).query(values, row: row)
  }

  /// The first row of a query, made into a value; nil if there is none.
  public func first<T>(_ sql: String, _ values: SQLiteValue..., row: (SQLiteRow) throws -> T) throws -> T? {
    try statement(sql).first(values, row: row)
  }

  /// Runs a closure during which calls wait for other connections' locks no longer than so many milliseconds.
  public func withBusyTimeout<T>(_ milliseconds: Int32, _ body: () throws -> T) rethrows -> T {
    sqlite3_busy_timeout(database, min(milliseconds, busyTimeout))
    defer { sqlite3_busy_timeout(database, busyTimeout) }
    return try body()
  }

  /// The absolute path by which the system's disk knows a file, whichever way leads to it; the file need not be there.
  package static func fullPath(of path: String) -> String? {
    guard let disk = sqlite3_vfs_find(nil) else { return nil }
    var buffer = [CChar](repeating: 0, count: Int(disk.pointee.mxPathname) + 1)
    let result = disk.pointee.xFullPathname(disk, path, Int32(buffer.count), &buffer)
    // Where symbolic links are met, SQLite says so by another code than 0 (SQLITE_OK_SYMLINK), whose low byte is 0 all the same.
    guard result & 0xFF == SQLITE_OK else { return nil }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The absolute path of the file; nil for one in memory.
  public var filePath: String? {
    sqlite3_db_filename(database, "main").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The number of the SQLite that is linked: major, minor and patch with three digits each (`sqlite3_libversion_number`).
  package static var libraryVersion: Int { Int(sqlite3_libversion_number()) }

  /// Whether a transaction is open.
  public var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

  /// Whether rows are waiting for others that their foreign keys name, for the end of the transaction at the latest
  /// (https://www.sqlite.org/c3ref/c_dbstatus_options.html, `SQLITE_DBSTATUS_DEFERRED_FKS`).
  public var hasBrokenForeignKeys: Bool {
    var (current, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(database, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
    return current != 0
  }

  /// The row id of the last insert.
  public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(database) }

  /// Changes when another connection has changed the file (https://www.sqlite.org/pragma.html#pragma_data_version).
  public func dataVersion() throws -> Int64 { try first("PRAGMA data_version") { $0.integer(0) } ?? 0 }

  /// Hands the statement to the monitor, if there is one; refuses it if the transaction has failed.
  func observe(_ sql: String) throws(SQLiteError) {
    if let failure { throw failure }
    guard let monitor else { return }
    do { try monitor(sql) } catch let error as SQLiteError { throw noted(error) } catch {
      throw noted(SQLiteError(extendedCode: SQLITE_INTERRUPT, message: "\(error)", sql: sql))
    }
  }

  func error(_ code: Int32, _ sql: String?) -> SQLiteError {
    noted(SQLiteError(extendedCode: code, message: String(cString: sqlite3_errmsg(database)), sql: sql))
  }

  /// After a full disk or an I/O error SQLite may have rolled back by itself, and what follows would run outside of any
  /// transaction (https://www.sqlite.org/lang_transaction.html, section 3). So such an error ends the whole transaction, even
  /// if somebody catches it on the way. A refused constraint or a mistake in a statement ends the statement only.
  private func noted(_ error: SQLiteError) -> SQLiteError {
    let endsItsStatementOnly = [SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_SCHEMA, SQLITE_MISUSE, SQLITE_RANGE]
    if isInScope, failure == nil, !endsItsStatementOnly.contains(error.code) { failure = error }
    return error
  }
}

/// Names a statement of a connection: what it does, and to which of the tables that its user numbers.
package struct StatementName: Hashable, Sendable {
  private let verb: Int
  private let table: Int

  /// - Parameter verb: a literal; the same one at each use, since it is known by its address.
  package init(_ verb: StaticString, _ table: Int) {
    self.verb = Int(bitPattern: verb.utf8Start)
    self.table = table
  }
}
