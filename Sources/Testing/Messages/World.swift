// SPDX-License-Identifier: Apache-2.0

import SkerryDiskKit
package import SkerryMachine
package import SkerryModel
package import SkerrySQLiteKit
package import SkerryServerCore
package import SkerryStorageSQLite
import SkerryStore
import Synchronization

/// A server and devices in one process and one thread, in virtual time, on real SQLite over a disk in memory. Messages are
/// bytes that a test carries, loses, doubles and delays.
package final class World {
  package let ambient: VirtualAmbient
  package let catalog: Catalog
  package private(set) var devices: [String: WorldDevice] = [:]
  private let place: FilePlace
  private let host: WorldServer
  private let waits: Waits
  private var lives = 0

  /// - Parameters:
  ///   - folder: an existing folder for the files, if other programs are to find them; nil for a disk in memory.
  ///   - before: SQL that makes a server's file of the app's own, before Skerry comes.
  package init(_ schema: Schema, seed: UInt64 = 1, folder: String? = nil, before: String? = nil) throws {
    ambient = VirtualAmbient(seed: seed)
    catalog = try Catalog(schema)
    let waits = Waits()
    self.waits = waits
    place = folder.map { .folder($0) } ?? .memory(World.makeDisk(seed, waits))
    if let before {
      let path = place.path("server.db", on: WorldServer.machine, of: "before")
      try SQLiteConnection(path: path, mode: .writer, vfs: place.vfs).execute(before)
    }
    host = try WorldServer(catalog, on: place, ambient: ambient)
  }

  private static func makeDisk(_ seed: UInt64, _ waits: Waits) -> MemoryDisk {
    let disk = MemoryDisk(seed: seed)
    disk.onSleep = { waits.add($0) }
    return disk
  }

  package var server: SyncServer { host.core }
  package var storage: SQLiteStorage { host.storage }
  /// Another program with the server's file open.
  package var foreign: SQLiteConnection { host.foreign }
  /// How long SQLite would have waited for locks on the disk in memory, where nobody waits.
  package var lockWait: Duration { .microseconds(waits.microseconds) }

  /// Makes a device, or opens its file again after its death.
  @discardableResult
  package func open(_ name: String, user: AccountID, policy: TimingPolicy = World.policy) throws -> WorldDevice {
    devices[name] = nil
    lives += 1
    let path = place.path(name + ".db", of: "\(name).\(lives)")
    let store = try Store(path: path, account: user, catalog: catalog, ambient: ambient, vfs: place.vfs)
    let device = WorldDevice(name: name, user: user, store: store, policy: policy)
    devices[name] = device
    return device
  }

  /// The process of a device ends for good.
  package func close(_ name: String) { devices[name] = nil }

  /// The process of a device dies: what is only in memory is gone.
  @discardableResult
  package func kill(_ name: String) throws -> WorldDevice? {
    guard let user = devices[name]?.user else { return nil }
    return try open(name, user: user)
  }

  /// The server's process dies and another opens the file.
  package func restartServer() throws { try host.restart() }

  /// Another connection that reads a device's file.
  package func reader(of name: String) throws -> SQLiteConnection {
    lives += 1
    return try SQLiteConnection(
      path: place.path(name + ".db", of: "reader.\(lives)"), mode: .reader, vfs: place.vfs)
  }

  /// The files of a device, database and WAL, that hold these bytes somewhere. Knows the disk in memory only.
  package func files(of name: String, containing text: String) -> [String] {
    guard case .memory(let disk) = place else { return [] }
    return disk.contains(Array(text.utf8), on: "world").filter { $0.hasPrefix(name + ".db") }
  }

  /// Small pages and batches, so that a few rows take several messages.
  package static let policy = TimingPolicy(interval: 30_000, batch: 3, page: 4)

  /// The server's answer to a request.
  package func serve(_ request: TransportRequest, as user: AccountID) -> TransportResponse {
    host.serve(request, as: user)
  }

  /// One round of a device: until its session has nothing to do for now.
  ///
  /// - Parameter limit: a round that takes more messages than this is a fault of the engine.
  package func sync(_ name: String, limit: Int = 2_000) throws {
    guard let device = devices[name] else { return }
    device.session.note(.syncWanted)
    for _ in 0..<limit {
      guard case .exchange(let exchange) = try device.session.next() else { return }
      try device.session.take(.success(serve(exchange.request, as: device.user)), for: exchange)
    }
    throw WorldError("a round of \(name) does not end")
  }

  /// Rounds of all devices until nothing changes any more; bounded, since faults have stopped and nobody writes.
  package func settle(rounds: Int = 20) throws {
    for _ in 0..<rounds {
      for name in devices.keys.sorted() { try sync(name) }
      ambient.advance(by: 600_000)
      let waiting = try devices.values.reduce(0) { try $0 + $1.store.outboxCount() }
      let head = try server.history().head
      if waiting == 0, devices.values.allSatisfy({ $0.store.cursor?.position == head }) { return }
    }
    throw WorldError("the world does not come to rest:\n\(try describe())")
  }

  /// All rows of the server and of each device as text: what a failing story shows.
  package func describe() throws -> String {
    let screens = try devices.sorted { $0.key < $1.key }.map { try $0.value.describe() }
    return "server\n" + (try host.screen()) + screens.joined()
  }
}

/// Adds up the waits that SQLite asks for.
private final class Waits: Sendable {
  private let total = Mutex<Int64>(0)
  var microseconds: Int64 { total.withLock { $0 } }
  func add(_ count: Int32) { total.withLock { $0 += Int64(count) } }
}
