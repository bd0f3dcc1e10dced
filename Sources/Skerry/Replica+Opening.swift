// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
public import SkerryModel
import SkerrySQLiteKit
public import SkerryStore

extension Replica {
  /// Opens an account's store in a folder, and makes it if there is none. Nothing is started: see `SyncEngine`.
  ///
  /// Opening the same store twice in one process gives the same replica.
  ///
  /// - Parameters:
  ///   - folder: an existing folder, by its path. The file's name is made from the account.
  ///   - account: the subject of the account's token.
  ///   - schema: what the app declares.
  ///   - files: who may read the files, and whether they are backed up.
  ///   - key: asked for the key at each opening of a connection, from any thread; nil for a file in clear. A file keeps the key
  ///     that it was made with. SQLCipher must be linked in place of SQLite.
  ///   - drops: the folder in which other processes leave writes; they are collected now, and by the engine.
  ///   - log: takes what happens, in names and numbers, at once and on whatever thread it happens on. Of a store that is open
  ///     already the first one stays.
  /// - Throws: `SchemaError`; `StoreError` with code `otherAccount`, `otherSchema`, `damaged`, `encryptionUnavailable` or
  ///   `wrongKey`; an error of the database when the file cannot be opened; what `files` or `key` throws. The file is not
  ///   changed then.
  public static func open(
    in folder: String, account: AccountID, schema: Schema, files: FilePolicy = FilePolicy(),
    key: (@Sendable () throws -> EncryptionKey)? = nil, drops: DropFolder? = nil, log: LogSink? = nil
  ) async throws -> Replica {
    let place = StorePlace(folder + "/" + fileName(of: account), key: key, files: files)
    return try await open(
      at: place, account: account, schema: schema, ambient: SystemAmbient(), drops: drops, log: log)
  }

  /// The name of an account's file: a hash, so that no account id can name another path.
  public static func fileName(of account: AccountID) -> String { StorePlace.fileName(of: account) }

  package static func open(
    path: String, account: AccountID, schema: Schema, ambient: any Ambient, drops: DropFolder? = nil,
    log: LogSink? = nil
  ) async throws -> Replica {
    try await open(
      at: StorePlace(path, files: FilePolicy()), account: account, schema: schema, ambient: ambient, drops: drops,
      log: log)
  }

  package static func open(
    at place: StorePlace, account: AccountID, schema: Schema, ambient: any Ambient, drops: DropFolder? = nil,
    log: LogSink? = nil
  ) async throws -> Replica {
    let catalog = try Catalog(schema)
    // Opening may wait for a lock and for the disk, so it is done on the store's own queue.
    let executor = SerialQueueExecutor(label: "skerry.store")
    let replica = try await executor.run {
      // One that is open already must not be brought to another schema by the way.
      if let known = OpenReplicas.find(place) { return known }
      let opened = try Replica(
        at: place, account: account, catalog: catalog, ambient: ambient,
        host: ReplicaHost(executor: executor, log: log), drops: drops)
      return OpenReplicas.keep(opened, opened.filePath)
    }
    guard replica.account == account, replica.catalog.schema == schema else {
      throw StoreError(.otherSchema, "the store is open already, with another account or schema; close that one first")
    }
    await replica.collectQuietly()
    return replica
  }
}
