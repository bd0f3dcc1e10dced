// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageSQLite
import SkerryTestSupport

/// The real server on a file, and another program's connection to that file.
struct HistoryHost {
  let core: SyncServer
  let storage: ScriptedStorage
  /// By it the server's rows are read too.
  let foreign: SQLiteConnection

  init(_ path: String, _ catalog: Catalog, _ ambient: any Ambient, _ runs: RunQueue) throws {
    storage = ScriptedStorage(try SQLiteStorage(path: path, catalog: catalog, ambient: ambient, readers: 1))
    core = SyncServer(catalog: catalog, storage: storage, ambient: ambient) { runs.arrange($0) }
    foreign = try SQLiteConnection(path: path, mode: .writer)
  }
}
