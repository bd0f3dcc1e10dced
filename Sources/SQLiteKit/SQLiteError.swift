// SPDX-License-Identifier: Apache-2.0

import CSkerrySQLite

/// A failed call to SQLite: the extended result code, SQLite's message and the statement, never the values bound to it.
public struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
  /// SQLite's extended result code (https://www.sqlite.org/rescode.html).
  public let extendedCode: Int32
  /// SQLite's own sentence.
  public let message: String
  /// The statement, with its placeholders; nil when no statement is to blame.
  public let sql: String?

  package init(extendedCode: Int32, message: String, sql: String? = nil) {
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
  }

  /// The primary result code, the low byte of the extended one.
  public var code: Int32 { extendedCode & 0xFF }

  /// Whether another connection held the lock for longer than the time-out.
  public var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

  /// Whether a constraint of the table refused the row.
  public var isConstraint: Bool { code == SQLITE_CONSTRAINT }

  /// Whether the file is no database, or one whose structure is broken.
  public var isDamage: Bool { code == SQLITE_NOTADB || code == SQLITE_CORRUPT }

  /// Whether the volume has no space left.
  public var isFull: Bool { code == SQLITE_FULL }

  /// Whether the same call may pass later without anybody's doing.
  public var isRetryable: Bool { isBusy }

  /// Code, message and statement in one line.
  public var description: String {
    "SQLite error \(extendedCode): \(message)" + (sql.map { " in: \($0)" } ?? "")
  }

  static func misuse(_ message: String, sql: String? = nil) -> SQLiteError {
    SQLiteError(extendedCode: SQLITE_MISUSE, message: message, sql: sql)
  }
}
