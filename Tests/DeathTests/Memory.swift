// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerryStore
import SkerryTestSupport
import SkerryTesting

/// What a store keeps in memory beside its file. It must be what the next process would read from the file.
struct Memory: Equatable {
  let replicas: [ReplicaID]
  let cursor: Cursor?
  let settled: Int64
  let digests: [SpaceID: SpaceDigest]
  let isCatchingUp: Bool
  let mismatches: Int64
  let syncedAt: Int64?

  init(_ store: Store) throws {
    replicas = store.replicaIDs
    cursor = store.cursor
    settled = try store.settledMark()
    digests = try store.digests()
    isCatchingUp = store.isCatchingUp
    mismatches = store.digestMismatches
    syncedAt = store.syncedAt
  }

  /// What a process reads that opens a copy of the file now.
  init(opening name: String, of world: MortalWorld) throws {
    let folder = try FileImage(of: world.folder).only(name + ".db").restored()
    let store = try Store(
      path: folder.path(name + ".db"), account: AccountID(name), catalog: world.catalog, ambient: world.ambient)
    try self.init(store)
  }
}
