// SPDX-License-Identifier: Apache-2.0

import CSkerrySQLite

/// A prepared statement of one connection, for its executor only.
public final class SQLiteStatement {
  /// The statement's text.
  public let sql: String
  /// The tables and views that it reads; empty unless the connection watches.
  package let tablesRead: Set<String>
  private let handle: StatementHandle
  private unowned let connection: SQLiteConnection
  private var isStepping = false

  init(_ sql: String, on connection: SQLiteConnection) throws(SQLiteError) {
    var pointer: OpaquePointer?
    var result = SQLITE_OK
    _ = connection.takeReadTables()
    var hasTail = false
    var text = sql
    text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) { buffer in
        var tail: UnsafePointer<CChar>?
        // What is meant for long came with 3.20; SQLCipher 3 is older.
        result =
          sqlite3_libversion_number() < 3_020_000
          ? sqlite3_prepare_v2(connection.database, buffer.baseAddress, Int32(buffer.count), &pointer, &tail)
          : sqlite3_prepare_v3(
            connection.database, buffer.baseAddress, Int32(buffer.count), UInt32(SQLITE_PREPARE_PERSISTENT), &pointer,
            &tail)
        if let tail, let start = buffer.baseAddress {
          hasTail = buffer[(tail - start)...].contains { !" \n\t;".utf8.contains(UInt8(bitPattern: $0)) }
        }
      }
    }
    if result != SQLITE_OK { throw connection.error(result, sql) }
    guard let pointer, !hasTail else {
      sqlite3_finalize(pointer)  // one that is left would keep the file open
      throw .misuse("one statement wanted", sql: sql)
    }
    self.sql = sql
    self.connection = connection
    tablesRead = connection.takeReadTables()
    handle = StatementHandle(pointer: pointer)
  }

  /// Whether it can be run without changing the file (https://www.sqlite.org/c3ref/stmt_readonly.html).
  public var isReadOnly: Bool { sqlite3_stmt_readonly(handle.pointer) != 0 }

  /// The names of the result's columns.
  public var columnNames: [String] {
    (0..<sqlite3_column_count(handle.pointer)).map { String(cString: sqlite3_column_name(handle.pointer, $0)) }
  }

  /// Runs it to its end.
  ///
  /// - Returns: the number of rows changed, 0 for a statement that changes none.
  @discardableResult
  public func run(_ values: [SQLiteValue]) throws(SQLiteError) -> Int {
    try start(values)
    defer { reset() }
    let before = sqlite3_total_changes(connection.database)
    while try step() {}
    // A statement that changes no row leaves the number of the one before (https://www.sqlite.org/c3ref/changes.html).
    return sqlite3_total_changes(connection.database) == before ? 0 : Int(sqlite3_changes(connection.database))
  }

  /// Gives each row to a closure; the row is valid within it only.
  public func query<T>(_ values: [SQLiteValue], row: (SQLiteRow) throws -> T) throws -> [T] {
    try start(values)
    defer { reset() }
    var out: [T] = []
    while try step() { out.append(try row(SQLiteRow(statement: handle.pointer))) }
    return out
  }

  /// The first row, made into a value; nil if there is none.
  public func first<T>(_ values: [SQLiteValue], row: (SQLiteRow) throws -> T) throws -> T? {
    try start(values)
    defer { reset() }
    return try step() ? try row(SQLiteRow(statement: handle.pointer)) : nil
  }

  private func start(_ values: [SQLiteValue]) throws(SQLiteError) {
    // A row closure that runs its own statement again would get its rows mixed with the outer run's.
    if isStepping { throw .misuse("the statement is still in use", sql: sql) }
    guard values.count == Int(sqlite3_bind_parameter_count(handle.pointer)) else {
      let wanted = sqlite3_bind_parameter_count(handle.pointer)
      throw .misuse("\(wanted) values wanted, \(values.count) given", sql: sql)
    }
    try connection.observe(sql)
    isStepping = true
    for (index, value) in values.enumerated() {
      let result = bind(value, at: Int32(index + 1))
      if result != SQLITE_OK {
        let error = connection.error(result, sql)
        reset()
        throw error
      }
    }
  }

  private func bind(_ value: SQLiteValue, at index: Int32) -> Int32 {
    switch value {
    case .null: sqlite3_bind_null(handle.pointer, index)
    case .integer(let number): sqlite3_bind_int64(handle.pointer, index, number)
    case .real(let number): sqlite3_bind_double(handle.pointer, index, number)
    case .text(var text):
      text.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) { buffer in
          // A nil base address would bind NULL instead of the empty text.
          buffer.baseAddress.map { skerry_bind_text(handle.pointer, index, $0, UInt64(buffer.count)) }
            ?? skerry_bind_text(handle.pointer, index, "", 0)
        }
      }
    case .blob(let bytes):
      bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle.pointer, index, 0)
        : skerry_bind_blob(handle.pointer, index, bytes, UInt64(bytes.count))
    }
  }

  private func step() throws(SQLiteError) -> Bool {
    switch sqlite3_step(handle.pointer) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let result: throw connection.error(result, sql)
    }
  }

  private func reset() {
    isStepping = false
    sqlite3_reset(handle.pointer)  // its result repeats the error of the step, which has been thrown
    sqlite3_clear_bindings(handle.pointer)
  }
}

/// The row at which a statement stands; valid within the closure that gets it.
public struct SQLiteRow {
  let statement: OpaquePointer

  /// The number of columns.
  public var count: Int { Int(sqlite3_column_count(statement)) }

  /// Whether the column is NULL.
  public func isNull(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL }

  /// The integer, converted by SQLite's rules from another class; 0 for NULL.
  public func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }

  /// The double, converted by SQLite's rules from another class; 0 for NULL.
  public func real(_ column: Int) -> Double { sqlite3_column_double(statement, Int32(column)) }

  /// The text, converted by SQLite's rules from another class; empty for NULL. Ill-formed UTF-8 is repaired.
  public func text(_ column: Int) -> String {
    guard let bytes = sqlite3_column_text(statement, Int32(column)) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, Int32(column)))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// The bytes; empty for NULL.
  public func blob(_ column: Int) -> [UInt8] {
    guard let bytes = sqlite3_column_blob(statement, Int32(column)) else { return [] }
    return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, Int32(column)))))
  }

  /// The value in its own storage class.
  public func value(_ column: Int) -> SQLiteValue {
    switch sqlite3_column_type(statement, Int32(column)) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .real(sqlite3_column_double(statement, Int32(column)))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .blob(blob(column))
    default: .null
    }
  }
}
