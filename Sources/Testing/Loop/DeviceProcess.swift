// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryDiskKit
import SkerrySQLiteKit

/// One process of the app on a device: the real replica on the device's file, and the real engine.
struct DeviceProcess: Sendable {
  let replica: Replica
  let engine: SyncEngine
  /// The process, as the world's disk knows it.
  let label: String
  /// The engine's work in the background, until it is stopped.
  var task: Task<Void, any Error>?
  var isAlive = true

  /// Opens the device's file, and makes it if there is none.
  init(_ link: DeviceLink, _ parts: WorldParts, _ lane: Lane, _ ambient: VirtualAmbient) throws {
    let life = link.beginLife()
    label = "\(link.machine).\(life)"
    let host = ReplicaHost(executor: LoopExecutor(parts.loop), lanes: .caller, vfs: parts.disk.vfsName)
    replica = try Replica(
      path: MemoryDisk.path(process: label, machine: link.machine, file: "app.db"), account: link.account,
      catalog: parts.catalog, ambient: ambient, host: host)
    let transport = WorldTransport(
      device: link, life: life, loop: parts.loop, network: parts.network, server: parts.server)
    engine = SyncEngine(
      replica, transport: transport, policy: parts.policy, clock: TestClock(parts.loop, isEngines: true),
      executor: lane)
  }
}
