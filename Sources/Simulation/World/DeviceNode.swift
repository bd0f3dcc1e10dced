// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryDiskKit
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryStore

/// A device: a machine with a disk, and at most one process of the app on it, with the real replica and the real engine.
// Unchecked: used on the scheduler's one thread.
final class DeviceNode: @unchecked Sendable {
  let name: String
  let number: Int
  let user: AccountID
  let ambient: NodeAmbient
  private let policy: TimingPolicy
  private(set) var oracle: DeviceOracle
  /// Counts the processes that the app has had.
  private(set) var life = 0 {
    didSet { label = "\(name).\(life)" }
  }
  /// Which version of the schema its app has.
  var version = 0
  private(set) var replica: Replica?
  private(set) var engine: SyncEngine?
  private(set) var task: Task<Void, Never>?
  private var listener: Task<Void, Never>?
  private var observer: SQLiteConnection?
  private var observerLabel = ""
  private var observers = 0
  private var seenVersion: Int64 = -1
  private var seenCalls = -1
  /// Nothing of this device runs or hears before this time.
  var frozenUntil = Int64.min
  /// Messages sent, which number the draws of its faults.
  var messages: UInt64 = 0
  var partition: FaultKind?
  var isAway = false
  /// Has only the time that the system gives in the background.
  var isCut = false
  /// The latest time that its clock has shown.
  var latestClock: Int64 {
    highestClock = max(highestClock, ambient.now())
    return highestClock
  }
  var highestClock = Int64.min
  /// Writes that returned, and what became of them.
  var acknowledged = 0
  /// How its process talks; a new one with each life.
  var talk: TalkOracle
  /// A person asked for a round: by now this many requests had been sent.
  var wishedAt: Int?
  /// What its listeners have not heard yet.
  var news = NewsOracle()
  /// What the next look finds changed is a person's doing, or was done before the process began.
  var isChangeLocal = false
  /// When entries were withdrawn, and what each was said to wait for when it was last offered.
  var withdrawals: [MutationID: Int64] = [:]
  var waits: [MutationID: [MutationID]] = [:]

  init(
    name: String, number: Int, user: AccountID, ambient: NodeAmbient, oracle: DeviceOracle, policy: TimingPolicy
  ) {
    self.name = name
    self.policy = policy
    talk = TalkOracle(policy, name)
    label = "\(name).0"
    self.number = number
    self.user = user
    self.ambient = ambient
    self.oracle = oracle
  }

  /// The process by name.
  private(set) var label: String
  var isUp: Bool { replica != nil }

  /// Starts a process: opens the file and makes the engine. `run` is what it does until it is cancelled.
  func start(in world: SimulatedWorld) throws {
    life += 1
    let path = MemoryDisk.path(process: label, machine: name, file: "store.db")
    let host = ReplicaHost(
      executor: world.scheduler.makeActorExecutor(), lanes: .caller, vfs: world.disk.vfsName)
    let replica = try Replica(
      path: path, account: user, catalog: world.lenses[version].catalog, ambient: ambient, host: host)
    replica.assumeIsolated { $0.setLongCatchUp(world.plan.profile.longCatchUp) }
    let clock = VirtualClock(world.scheduler, hold: { self.frozenUntil })
    let engine = SyncEngine(
      replica, transport: DeviceTransport(device: self, life: life, network: world.network),
      policy: world.plan.profile.policy, clock: clock, executor: world.scheduler.taskExecutor)
    self.replica = replica
    self.engine = engine
    news = NewsOracle()
    let events = replica.events()
    let life = life
    listener = world.scheduler.spawn {
      for await event in events where self.life == life { self.news.heard(event) }
    }
    isCut = false
    talk = TalkOracle(policy, name)
    wishedAt = nil
    run(in: world)
  }

  /// Lets the engine run until it is cancelled or the file can no longer be used.
  func run(in world: SimulatedWorld) {
    guard let engine else { return }
    let life = life
    task = world.scheduler.spawn {
      do { try await engine.run() } catch { world.engineEnded(self, life: life, error) }
    }
  }

  /// The process is no more: what it still does reaches neither disk nor network.
  func stop() {
    news = NewsOracle()
    task?.cancel()
    listener?.cancel()
    (task, listener) = (nil, nil)
    replica = nil
    engine = nil
    life += 1
  }

  /// Opens the file for looking at it.
  func observe(_ disk: MemoryDisk) throws -> SQLiteConnection {
    if let observer, !disk.isDead(observerLabel) { return observer }
    observer = nil
    observers += 1
    observerLabel = "look.\(number).\(observers)"
    let path = MemoryDisk.path(process: observerLabel, machine: name, file: "store.db")
    let connection = try SQLiteConnection(path: path, mode: .reader, busyTimeout: 0, vfs: disk.vfsName)
    observer = connection
    seenVersion = -1
    return connection
  }

  /// Whether the file says that it is as the server was, at another time than when it was last looked at.
  func isAtNewPoint(_ disk: MemoryDisk) throws -> Bool {
    let at = try observe(disk).first("SELECT synced FROM skerry_state") { $0.isNull(0) ? nil : $0.integer(0) }
    return at ?? nil != oracle.last?.syncedAt
  }

  func closeObserver() { observer = nil }

  /// The file is a new one.
  func renew(_ oracle: DeviceOracle) { self.oracle = oracle }

  /// Whether the file has been changed since this was last asked.
  func hasChanged(_ disk: MemoryDisk) throws -> Bool {
    let calls = disk.calls(of: label, counting: .writes)
    if calls == seenCalls { return false }
    seenCalls = calls
    let version = try observe(disk).dataVersion()
    defer { seenVersion = version }
    return version != seenVersion
  }
}
