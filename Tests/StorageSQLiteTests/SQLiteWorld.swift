// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageContract
import SkerryStorageSQLite
import SkerryTestSupport
import SkerryTesting

/// A server's SQLite file, and another program that has it open.
struct SQLiteWorld {
  let folder: TemporaryFolder
  let ambient: VirtualAmbient
  let catalog: Catalog
  let storage: SQLiteStorage
  let foreign: SQLiteConnection

  /// - Parameter before: what the app had done to its database before Skerry came.
  init(_ schema: Schema, seed: UInt64 = 1, before: String = "") throws {
    folder = try TemporaryFolder()
    ambient = VirtualAmbient(seed: seed)
    catalog = try Catalog(schema)
    foreign = try SQLiteConnection(path: folder.path("server.db"), mode: .writer, busyTimeout: 0)
    try foreign.execute(before)
    storage = try SQLiteWorld.open(folder, catalog, ambient)
  }

  static func open(_ folder: TemporaryFolder, _ catalog: Catalog, _ ambient: VirtualAmbient) throws -> SQLiteStorage {
    try SQLiteStorage(path: folder.path("server.db"), catalog: catalog, ambient: ambient, busyTimeout: 0, readers: 2)
  }

  /// Opens the file again, as another process does.
  func reopened() throws -> SQLiteStorage { try SQLiteWorld.open(folder, catalog, ambient) }

  /// The same as the conformance suite sees it.
  var contract: StorageWorld {
    StorageWorld(
      storage: storage, begin: "BEGIN IMMEDIATE", upserts: SQLiteWorld.upserts, foreign: { try foreign.execute($0) },
      reopen: { try SQLiteWorld.open(folder, $0, ambient) },
      install: { effect in
        try foreign.execute(
          "CREATE TRIGGER app_after_\(effect.table) AFTER INSERT ON \(effect.table) BEGIN \(effect.statement); END")
      })
  }

  private static let upserts: [@Sendable (StorageWorld.Upsert) -> String] = [
    { "INSERT OR REPLACE INTO \($0.table)(\(list($0.columns))) VALUES (\(list($0.literals)))" },
    { "REPLACE INTO \($0.table)(\(list($0.columns))) VALUES (\(list($0.literals)))" },
    { upsert in
      let sets = upsert.columns.dropFirst().map { "\($0) = excluded.\($0)" }
      return """
        INSERT INTO \(upsert.table)(\(list(upsert.columns))) VALUES (\(list(upsert.literals)))
        ON CONFLICT(\(upsert.columns[0])) DO UPDATE SET \(list(sets))
        """
    },
    { upsert in
      let sets = zip(upsert.columns, upsert.literals).dropFirst().map { "\($0) = \($1)" }
      return """
        INSERT OR IGNORE INTO \(upsert.table)(\(list(upsert.columns))) VALUES (\(list(upsert.literals)));
        UPDATE \(upsert.table) SET \(list(sets)) WHERE \(upsert.columns[0]) = \(upsert.literals[0])
        """
    },
  ]

  private static func list(_ parts: [String]) -> String { parts.joined(separator: ", ") }
}
