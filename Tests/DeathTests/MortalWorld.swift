// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageSQLite
import SkerryStore
import SkerryTestSupport
import SkerryTesting

/// A server and the devices of Ana and Bob on the machines of one disk, in one thread and in virtual time. Each process is
/// opened when it is first needed, so what is never asked for costs nothing.
final class MortalWorld {
  /// Who may die.
  enum Victim: Hashable, Sendable {
    case device(String)
    case server
    /// Another program with the server's file open.
    case foreign

    var program: String {
      switch self {
      case .device(let name): name
      case .server: MortalWorld.serverMachine
      case .foreign: "foreign"
      }
    }

    var machine: String { if case .device(let name) = self { name } else { MortalWorld.serverMachine } }
  }

  static let catalog = Result { try Catalog(.model) }
  static let people = ["ana", "bob"]
  static let serverMachine = "server"
  static let machines = people + [serverMachine]
  static let serverFile = "server.db"

  private(set) var disk: MemoryDisk
  private(set) var ambient: VirtualAmbient
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
  /// What the disk calls the process in which a program runs.
  private var labels: [String: String] = [:]
  private var launches = 0

  struct Device {
    let store: Store
    let session: SyncSession
  }

  init(_ disk: MemoryDisk = MemoryDisk(tracesContent: false), bound: Int64 = 5_000, seed: UInt64 = 1) throws {
    self.disk = disk
    self.bound = bound
    ambient = VirtualAmbient(seed: seed)
    catalog = try MortalWorld.catalog.get()
  }

  // MARK: Processes

  /// The process in which a program runs, or will.
  func label(_ program: String) -> String {
    if let known = labels[program] { return known }
    launches += 1
    let made = "\(program)-\(launches)"
    labels[program] = made
    return made
  }

  private func path(_ program: String, _ file: String) -> String {
    MemoryDisk.path(process: label(program), machine: FileImage.machine(of: file), file: file)
  }

  func device(_ name: String) throws -> Device {
    if let device = devices[name] { return device }
    let store = try Store(
      path: path(name, name + ".db"), account: AccountID(name), catalog: catalog, ambient: ambient, vfs: disk.vfsName)
    store.longCatchUp = bound
    let device = Device(store: store, session: SyncSession(store, policy: TimingPolicy(batch: 20, page: 50)))
    devices[name] = device
    return device
  }

  func store(_ name: String) throws -> Store { try device(name).store }

  var server: SyncServer { get throws { try opened().server } }

  func opened() throws -> (storage: SQLiteStorage, server: SyncServer, endpoint: Endpoint) {
    if let open { return open }
    let path = path(MortalWorld.serverMachine, MortalWorld.serverFile)
    let storage = try SQLiteStorage(
      path: path, catalog: catalog, ambient: ambient, busyTimeout: 0, readers: 1, vfs: disk.vfsName)
    let server = SyncServer(catalog: catalog, storage: storage, ambient: ambient)
    let made = (storage, server, Endpoint(server))
    open = made
    return made
  }

  func foreign() throws -> SQLiteConnection {
    if let program { return program }
    let path = path(Victim.foreign.program, MortalWorld.serverFile)
    let made = try SQLiteConnection(path: path, mode: .writer, busyTimeout: 0, vfs: disk.vfsName)
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
    watch.onDeath = { [unowned self] in disk.kill(process: label(victim.program)) }
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

  // MARK: Deaths

  /// The watched process is gone, with all that it held in memory.
  func bury() throws {
    guard let victim else { return }
    weak var connection: SQLiteConnection?
    try withConnection(of: victim) { connection = $0 }
    bury(victim)
    if connection != nil { throw WorldError("the dead process still holds its connection") }
    (watch, self.victim) = (nil, nil)
  }

  /// A process dies if it has not, and what it held in memory is gone.
  func bury(_ victim: Victim) {
    disk.kill(process: label(victim.program))
    buryDead()
  }

  /// All dead processes lose what they held in memory.
  func buryDead() {
    for (program, label) in labels where disk.isDead(label) {
      labels[program] = nil
      switch program {
      case MortalWorld.serverMachine: open = nil
      case Victim.foreign.program: self.program = nil
      default:
        devices[program] = nil
        observers[program] = nil
        dumps[program] = nil
      }
    }
  }

  /// All processes end as they should.
  func shutDown() {
    devices = [:]
    open = nil
    program = nil
    (observers, dumps) = ([:], [:])
    (watch, victim) = (nil, nil)
  }

  /// All processes are killed.
  func killAll() {
    for label in labels.values { disk.kill(process: label) }
    buryDead()
    shutDown()
  }

  /// All is again as it was at a moment, on a disk of its own.
  func rewind(to moment: Moment, seed: UInt64, diskSeed: UInt64) {
    killAll()
    disk = moment.image.restored(seed: diskSeed)
    ambient = VirtualAmbient(seed: seed)
    ledger = moment.ledger
  }

  // MARK: Looking at files

  /// A connection of the test's own, which only reads.
  func observer(_ file: String) throws -> SQLiteConnection {
    let program = "eye on \(file)"
    if let known = observers[program] { return known }
    let made = try SQLiteConnection(path: path(program, file), mode: .reader, vfs: disk.vfsName)
    observers[program] = made
    return made
  }

  /// A file as text, as the next process finds it.
  func dump(_ file: String) throws -> String {
    let program = "eye on \(file)"
    if let known = dumps[program] { return try known.text() }
    let made = try Dump(observer(file))
    dumps[program] = made
    return try made.text()
  }

  /// The devices that there are files of.
  var names: [String] { MortalWorld.people.filter { disk.files(on: $0).contains($0 + ".db") } }
}
