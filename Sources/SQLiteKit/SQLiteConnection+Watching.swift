// SPDX-License-Identifier: Apache-2.0

import CSkerrySQLite

/// Which tables are written and read: SQLite itself tells, so that no statement has to be understood.
extension SQLiteConnection {
  /// Begins to note the tables of which rows are inserted, updated or deleted
  /// (https://www.sqlite.org/c3ref/update_hook.html). Tables WITHOUT ROWID are not noted, nor is a DELETE without a WHERE.
  package func watchChanges() {
    if changes != nil { return }
    let changes = ChangedTables()
    self.changes = changes
    // The connection holds the object for as long as the hook may be called: both end with it.
    sqlite3_update_hook(
      database,
      { context, _, _, table, _ in
        guard let context, let table else { return }
        Unmanaged<ChangedTables>.fromOpaque(context).takeUnretainedValue().note(table)
      }, Unmanaged.passUnretained(changes).toOpaque())
  }

  /// The tables that were noted since the last call, whether or not the transaction was committed.
  package func takeChangedTables() -> Set<String> { changes?.take() ?? [] }

  /// Begins to note which tables statements read, when they are prepared
  /// (https://www.sqlite.org/c3ref/set_authorizer.html). Nothing is refused.
  package func watchReads() {
    if reads != nil { return }
    let reads = ReadTables()
    self.reads = reads
    sqlite3_set_authorizer(
      database,
      { context, action, table, _, _, _ in
        if action == SQLITE_READ, let context, let table {
          Unmanaged<ReadTables>.fromOpaque(context).takeUnretainedValue().names.insert(String(cString: table))
        }
        return SQLITE_OK
      }, Unmanaged.passUnretained(reads).toOpaque())
  }

  /// The tables and views that statements read which were prepared since the last call; empty without `watchReads`.
  func takeReadTables() -> Set<String> {
    defer { reads?.names = [] }
    return reads?.names ?? []
  }
}

/// The names of changed tables. A run of changes of one table costs a comparison each.
final class ChangedTables {
  private var last: UnsafePointer<CChar>?
  private var names: Set<String> = []

  func note(_ table: UnsafePointer<CChar>) {
    // The name's address is the same for as long as the table is, and a transaction begins with none.
    if table == last { return }
    last = table
    names.insert(String(cString: table))
  }

  func take() -> Set<String> {
    defer { (last, names) = (nil, []) }
    return names
  }
}

/// The names of tables that statements read.
final class ReadTables { var names: Set<String> = [] }
