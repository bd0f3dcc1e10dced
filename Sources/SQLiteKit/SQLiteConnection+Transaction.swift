// SPDX-License-Identifier: Apache-2.0

extension SQLiteConnection {
  /// How a transaction begins (https://www.sqlite.org/lang_transaction.html).
  public enum Begin: String, Sendable {
    /// One snapshot for reading.
    case deferred = "BEGIN DEFERRED"
    /// The write lock at once, so that a transaction never fails half-way for wanting it.
    case immediate = "BEGIN IMMEDIATE"
  }

  /// Runs a closure in a transaction: committed when it returns, rolled back when it throws.
  ///
  /// An error of the database other than a refused constraint ends the transaction, whether or not the closure catches it:
  /// each later call repeats it, and so does this one.
  ///
  /// When the commit itself fails, the transaction is rolled back and the error thrown; after an error of the disk it may
  /// have become durable all the same, so a caller must be able to repeat what it did.
  public func transaction<T>(_ begin: Begin, _ body: () throws -> T) throws -> T {
    try run(begin.rawValue)
    isInScope = true
    defer { isInScope = false }
    do {
      let result = try body()
      if let failure { throw failure }
      try run("COMMIT")
      return result
    } catch {
      failure = nil
      // SQLite has rolled back by itself after some errors (full disk, I/O); then there is nothing left to do, and the
      // first error is the one that tells.
      if isInTransaction { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// Runs a closure within the open transaction: undone alone when it throws.
  public func savepoint<T>(_ body: () throws -> T) throws -> T {
    try run("SAVEPOINT skerry")
    do {
      let result = try body()
      try run("RELEASE skerry")
      return result
    } catch {
      if isInTransaction, failure == nil {
        try execute("ROLLBACK TO skerry")
        try execute("RELEASE skerry")
      }
      throw error
    }
  }

  /// Moves the WAL's content into the file. Only the writer calls it: two checkpointers at once are the WAL-reset bug of
  /// SQLite before 3.51.3.
  ///
  /// - Returns: whether all of it was moved; false while a reader still needs the older content.
  @discardableResult
  public func checkpoint(truncating: Bool) throws -> Bool {
    try first("PRAGMA wal_checkpoint(\(truncating ? "TRUNCATE" : "PASSIVE"))") { $0.integer(0) == 0 } ?? false
  }
}
