// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
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
    let disk = MemoryDisk(tracesContent: false)
    for file in [name + ".db", name + ".db-wal"] {
      disk.setBytes(world.disk.bytes(of: file, on: name), of: file, on: name)
    }
    let store = try Store(
      path: MemoryDisk.path(process: "next", machine: name, file: name + ".db"), account: AccountID(name),
      catalog: world.catalog, ambient: world.ambient, vfs: disk.vfsName)
    try self.init(store)
  }

  /// What another process reads that opens the file beside the one that has it open.
  init(beside name: String, in world: MortalWorld) throws {
    let path = MemoryDisk.path(process: world.label("look"), machine: name, file: name + ".db")
    let store = try Store(
      path: path, account: AccountID(name), catalog: world.catalog, ambient: world.ambient, vfs: world.disk.vfsName)
    try self.init(store)
  }
}
