// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerrySQLiteKit
package import SkerryServerCore

/// A server's storage in one SQLite file: the embedded default.
///
/// Its one writer connection is the only one of this process that writes or checkpoints; pulls read in snapshots beside it.
/// Other programs may write the app's tables in the same file: triggers capture what they do.
package final class SQLiteStorage: Storage {
  private let catalog: Catalog
  private let fingerprint: [UInt8]
  private let writer: GuardedWriter
  private let defersForeignKeys: Bool
  private let readers: ReaderPool

  /// Opens the file, makes what is missing in it, and captures the rows that were there before.
  ///
  /// - Parameters:
  ///   - busyTimeout: how long a transaction waits for another program's lock, in milliseconds.
  ///   - earlier: versions of the schema of which devices may come, though the file was never served by them.
  ///   - ambient: gives the first epoch its name.
  ///   - vfs: SQLite's name of the file system that the file is on; nil for its default.
  package init(
    path: String, catalog: Catalog, earlier: [Schema] = [], ambient: any Ambient, busyTimeout: Int32 = 5_000,
    readers: Int = 4,
    vfs: String? = nil
  ) throws {
    self.catalog = catalog
    let fingerprint = catalog.schema.fingerprint
    self.fingerprint = fingerprint
    writer = try GuardedWriter(path: path, busyTimeout: busyTimeout, vfs: vfs)
    self.readers = ReaderPool(path: path, size: readers, busyTimeout: busyTimeout, vfs: vfs)
    let epoch = ambient.makeReplicaID().text
    defersForeignKeys = try SQLiteStorage.translating { [writer] in
      try writer.withConnection { connection in
        // The app's own tables may have them. A device may break them no more than the app itself.
        try connection.execute("PRAGMA foreign_keys = ON")
        return try connection.transaction(.immediate) {
          if try ServerSchema(catalog).create(on: connection, epoch: epoch, earlier: earlier) {
            try SyncServer.sequence(
              in: SQLiteTransaction(connection, catalog, fingerprint: fingerprint), by: catalog, ambient)
          }
          return try ForeignKeys.areUsed(on: connection)
        }
      }
    }
  }

  package func write<T>(_ body: (any StorageTransaction) throws -> T) throws -> T {
    try SQLiteStorage.translating {
      try writer.withConnection { connection in
        try transaction(on: connection, body)
      }
    }
  }

  private func transaction<T>(
    on connection: SQLiteConnection, _ body: (any StorageTransaction) throws -> T
  ) throws -> T {
    try connection.transaction(.immediate) {
      let transaction = SQLiteTransaction(connection, catalog, fingerprint: fingerprint)
      // Another process may have opened the file with a later schema: nothing may be judged by the rules of before.
      _ = try transaction.history()
      if defersForeignKeys { try ForeignKeys.deferAll(on: connection) }
      return try body(transaction)
    }
  }

  package func writeSoon<T>(_ body: (any StorageTransaction) throws -> T) throws -> T {
    try SQLiteStorage.translating {
      let result = try writer.tryConnection(waiting: SQLiteStorage.soon) { connection in
        try connection.withBusyTimeout(SQLiteStorage.soon) { try transaction(on: connection, body) }
      }
      guard let result else { throw StorageError.busy }
      return result
    }
  }

  /// Milliseconds that a pull waits to be the sequencer, before it answers from the last finished run.
  private static let soon: Int32 = 250

  package func read<T>(_ body: (any StorageTransaction) throws -> T) throws -> T {
    try SQLiteStorage.translating {
      try readers.read { try body(SQLiteTransaction($0, catalog, fingerprint: fingerprint)) }
    }
  }

  /// Gives a closure the writer's connection, for tests that count its calls or let it die.
  package func withWriter<T>(_ body: (SQLiteConnection) throws -> T) rethrows -> T {
    try writer.withConnection(body)
  }

  static func translating<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as SQLiteError {
      if error.isBusy { throw StorageError.busy }
      if error.isConstraint { throw StorageError.constraint(error.message) }
      throw error
    }
  }
}
