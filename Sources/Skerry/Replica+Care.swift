// SPDX-License-Identifier: Apache-2.0

import SkerryFileKit
import SkerrySQLiteKit
public import SkerryStore

/// Looking after the file.
extension Replica {
  /// How much room the store takes, and which tables take it. It counts rows and pages beside whatever is being written.
  ///
  /// - Throws: `StoreError` with code `suspended`; an error of the database.
  public nonisolated func size() async throws -> StoreSize {
    try await reading { [catalog] connection in
      let wal = connection.filePath.flatMap { FileSystem.system.size(of: $0 + "-wal") } ?? 0
      return try StoreSize(connection, catalog, wal: wal)
    }
  }

  /// Writes the file anew without what is free in it, and gives that back to the system. Writes wait as long as that takes, and
  /// for a while it takes twice the file's size. Reads go on.
  ///
  /// - Throws: `StoreError` with code `noSpace` if the volume has too little left, `locked` if another process is writing,
  ///   `suspended`; an error of the database. The file is as it was then.
  public func vacuum() throws { try store.vacuum() }

  /// Looks at the whole file: SQLite's structures, the digests against the rows, what is visible against the confirmed rows and
  /// what waits, and each waiting mutation against its checksum. Nothing is changed, and writes wait for it.
  ///
  /// - Returns: what is wrong, a sentence each, without values; none if all is well. What to do then: sync, and have a look
  ///   again (rows and digests come from the server); if SQLite's own structures are broken, `salvage`.
  /// - Throws: `StoreError` with code `suspended`; an error of the database if the file cannot be read at all.
  public func checkIntegrity() throws -> [String] { try store.integrityFaults() }
}
