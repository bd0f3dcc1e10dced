// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageSQLite
import SkerryStore
import SkerryTestSupport
import SkerryTesting

/// A server and the devices of Ana and Bob on the files of one folder, in one thread and in virtual time. Each process is
/// opened when it is first needed, so what is never asked for costs nothing.
final class MortalWorld {
  /// Whose connection is watched.
  enum Victim: Hashable, Sendable {
    case device(String)
    case server
    /// Another program with the server's file open.
    case foreign
  }

  static let catalog = Result { try Catalog(.model) }
  static let people = ["ana", "bob"]
  static let serverFile = "server.db"

  let folder: TemporaryFolder
  let ambient: VirtualAmbient
  let catalog: Catalog
  /// Above how many items a catch-up is published page by page.
  let bound: Int64
  var ledger = Ledger()
  private var interlude: (number: Int, action: () throws -> Void)?
  private(set) var watch: Watch?
  private(set) var victim: Victim?
  private var devices: [String: Device] = [:]
  private var open: (storage: SQLiteStorage, server: SyncServer, endpoint: Endpoint)?
  private var program: SQLiteConnection?
  private var observers: [String: SQLiteConnection] = [:]
  private var dumps: [String: Dump] = [:]

  struct Device {
    let store: Store
    let session: SyncSession
  }

  init(_ folder: TemporaryFolder, bound: Int64 = 5_000, seed: UInt64 = 1) throws {
    self.folder = folder
    self.bound = bound
    ambient = VirtualAmbient(seed: seed)
    catalog = try MortalWorld.catalog.get()
  }

  // MARK: Processes

  func device(_ name: String) throws -> Device {
    if let device = devices[name] { return device }
    let store = try Store(path: folder.path(name + ".db"), account: AccountID(name), catalog: catalog, ambient: ambient)
    store.longCatchUp = bound
    let device = Device(store: store, session: SyncSession(store, policy: TimingPolicy(batch: 20, page: 50)))
    devices[name] = device
    return device
  }

  func store(_ name: String) throws -> Store { try device(name).store }

  var server: SyncServer { get throws { try opened().server } }

  func opened() throws -> (storage: SQLiteStorage, server: SyncServer, endpoint: Endpoint) {
    if let open { return open }
    let storage = try SQLiteStorage(
      path: folder.path(MortalWorld.serverFile), catalog: catalog, ambient: ambient, busyTimeout: 0, readers: 1)
    let server = SyncServer(catalog: catalog, storage: storage, ambient: ambient)
    let made = (storage, server, Endpoint(server))
    open = made
    return made
  }

  func foreign() throws -> SQLiteConnection {
    if let program { return program }
    let made = try SQLiteConnection(path: folder.path(MortalWorld.serverFile), mode: .writer, busyTimeout: 0)
    program = made
    return made
  }

  /// Does something once, before the victim's n-th transaction after `attach` begins.
  func beforeTransaction(_ number: Int, _ action: @escaping () throws -> Void) { interlude = (number, action) }

  private func noteTransaction(_ count: inout Int) throws {
    count += 1
    guard let (number, action) = interlude, number == count else { return }
    interlude = nil
    try action()
  }

  /// Watches one process from now on.
  func attach(_ watch: Watch, to victim: Victim) throws {
    var count = 0
    watch.onTransaction = { [unowned self] in try noteTransaction(&count) }
    self.watch = watch
    self.victim = victim
    try withConnection(of: victim) { watch.attach(to: $0) }
  }

  /// The connection with which a process writes.
  func withConnection<T>(of victim: Victim, _ body: (SQLiteConnection) throws -> T) throws -> T {
    switch victim {
    case .device(let name): try store(name).withConnection(body)
    case .server: try opened().storage.withWriter(body)
    case .foreign: try body(foreign())
    }
  }

  /// The victim's process is gone, with all that it held in memory.
  func bury() throws {
    guard let victim else { return }
    weak var connection: SQLiteConnection?
    try withConnection(of: victim) { connection = $0 }
    switch victim {
    case .device(let name): devices[name] = nil
    case .server: open = nil
    case .foreign: program = nil
    }
    if connection != nil { throw WorldError("the dead process still holds its connection") }
    (watch, self.victim) = (nil, nil)
  }

  /// A connection of the test's own, which only reads. While it is there, closing another one leaves the WAL as it is.
  func observer(_ file: String) throws -> SQLiteConnection {
    if let known = observers[file] { return known }
    let made = try SQLiteConnection(path: folder.path(file), mode: .reader)
    observers[file] = made
    return made
  }

  /// A power cut: all processes are gone.
  func shutDown() {
    devices = [:]
    open = nil
    program = nil
    (observers, dumps) = ([:], [:])
    (watch, victim) = (nil, nil)
  }

  /// A file as text, as the next process finds it.
  func dump(_ file: String) throws -> String {
    if let known = dumps[file] { return try known.text() }
    let made = try Dump(observer(file))
    dumps[file] = made
    return try made.text()
  }

  /// The devices that there are files of.
  var names: [String] {
    MortalWorld.people.filter { FileManager.default.fileExists(atPath: folder.path($0 + ".db")) }
  }
}
