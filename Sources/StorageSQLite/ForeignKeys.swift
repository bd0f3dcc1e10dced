// SPDX-License-Identifier: Apache-2.0

import SkerrySQLiteKit

/// The foreign keys of the app's own tables; Skerry's tables have none.
///
/// They hold for mutations as they do for the app. A mutation may write a row before the one that its key names, so they are
/// waited for until its savepoint ends; `ON DELETE RESTRICT` is never waited for (https://www.sqlite.org/foreignkeys.html,
/// 4.2 and 4.3).
enum ForeignKeys {
  /// Whether any table of the file has one.
  static func areUsed(on connection: SQLiteConnection) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM sqlite_schema AS t JOIN pragma_foreign_key_list(t.name) WHERE t.type = 'table' LIMIT 1"
    ) { _ in true } ?? false
  }

  /// Lets all of them wait, in the transaction that is open. SQLite compiles every statement anew after it, so a file without
  /// foreign keys is spared it.
  static func deferAll(on connection: SQLiteConnection) throws {
    try connection.execute("PRAGMA defer_foreign_keys = ON")
  }
}
