// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageSQLite
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import SkerryWire
import Testing

/// A space that is lost and gained again while the device is still filling it for the first time.
@Suite struct RegainTests {
  private let folder: TemporaryFolder
  private let server: SyncServer
  private let foreign: SQLiteConnection
  private let store: Store

  init() throws {
    folder = try TemporaryFolder()
    let ambient = VirtualAmbient(seed: 1)
    let catalog = try Catalog(.interleaving)
    let storage = try SQLiteStorage(path: folder.path("server.db"), catalog: catalog, ambient: ambient, busyTimeout: 0)
    server = SyncServer(catalog: catalog, storage: storage, ambient: ambient)
    foreign = try SQLiteConnection(path: folder.path("server.db"), mode: .writer, busyTimeout: 0)
    store = try Store(path: folder.path("device.db"), account: "ana", catalog: catalog, ambient: ambient)
  }

  /// One pull of a few items.
  private func pull() throws -> PageEffect {
    let request = PullRequest(
      schema: SchemaStamp(store.catalog.schema), replicas: store.replicaIDs, cursor: store.cursor, settled: 0, limit: 5)
    switch try server.pull(request, as: "ana") {
    case .reset(let reset): return try store.apply(reset, asked: request.cursor)
    case .page(let page): return try store.apply(page, asked: request.cursor, when: store.clock)
    }
  }

  private func catchUp() throws -> PageEffect {
    for _ in 0..<50 {
      let effect = try pull()
      if effect.isConsistent { return effect }
    }
    throw WorldError("a catch-up does not end")
  }

  @Test func `a row that was held from the first filling and has left since is swept with the second`() throws {
    _ = try catchUp()
    try foreign.execute("INSERT INTO member(id, token, team, account) VALUES (34, 1, 'one', 'ana')")
    for row in 0..<16 {
      try foreign.run("INSERT INTO item(id, token, home) VALUES (?, 1, 'team:one')", .integer(Int64(row)))
    }
    #expect(try !pull().isConsistent)
    try foreign.execute("DELETE FROM member WHERE id = 34")
    try server.sequence()
    try foreign.execute("UPDATE item SET home = 'user:bob' WHERE id < 10")
    try server.sequence()
    try foreign.execute("INSERT INTO member(id, token, team, account) VALUES (34, 2, 'one', 'ana')")
    let effect = try catchUp()
    #expect(effect.mismatches.isEmpty)
    #expect(try store.withConnection(FullScan.rows) == FullScan(foreign).scope(of: "ana"))
  }
}
