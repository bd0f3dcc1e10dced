// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageSQLite
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import SkerryWire

/// One thread that is everybody: four writers, three devices of two accounts and the server, whose steps it interleaves as a
/// seed says. The same seed gives the same run.
final class Interleaving {
  /// What is done to the pages on their way, to see that the oracle notices.
  enum Sabotage { case none, publishedAtOnce, leavesLost, changesLost, lossesLost, readFreely }

  struct Pull {
    let answer: PullAnswer
    let asked: Cursor?
    let when: Int
    let commits: Int
  }

  final class Device {
    let store: Store
    let user: Int
    let writes: Bool
    var watcher: Watcher
    var inFlight: Pull?
    /// The rows of each mutation in the outbox.
    var pending: [MutationID: [Int]] = [:]
    var touched: Set<Int> { Set(pending.values.joined()) }

    init(_ store: Store, user: Int, writes: Bool) {
      self.store = store
      self.user = user
      self.writes = writes
      watcher = Watcher(user: user)
    }
  }

  let folder: TemporaryFolder
  let server: SyncServer
  let storage: SQLiteStorage
  let scan: SQLiteConnection
  let devices: [Device]
  var log = CommitLog()
  var count = Count()
  let seed: UInt64
  let sabotage: Sabotage
  private let writers: [ForeignWriter]
  let stamp: SchemaStamp
  var random: SeededGenerator
  var holder: Int?
  var tokens = 0
  /// The last position of each sequencer run, and the commits before it.
  var runs: [Int64] = [0]
  var runCommits = [0]
  /// The devices' mutations that the server has judged.
  var judged: Set<MutationID> = []

  /// How often things happened that the test is about.
  struct Count {
    var transactions = 0
    var rolledBack = 0
    var lockedOut = 0
    var pulls = 0
    var besideWriter = 0
    var cut = 0
    var confirmed = 0
    var refused = 0
    var gains = 0
    var losses = 0
    var leaves = 0
  }

  init(seed: UInt64, sabotage: Sabotage = .none) throws {
    self.seed = seed
    self.sabotage = sabotage
    random = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    let ambient = VirtualAmbient(seed: seed)
    let catalog = try Catalog(.interleaving)
    let path = folder.path("server.db")
    storage = try SQLiteStorage(path: path, catalog: catalog, ambient: ambient, busyTimeout: 0, readers: 1)
    server = SyncServer(catalog: catalog, storage: storage, ambient: ambient)
    writers = try (0..<4).map { _ in try ForeignWriter(path: path) }
    scan = try SQLiteConnection(path: path, mode: .reader)
    stamp = SchemaStamp(catalog.schema)
    devices = try [(0, true), (1, true), (0, false)].enumerated().map { index, device in
      let store = try Store(
        path: folder.path("device\(index).db"), account: Place.users[device.0], catalog: catalog, ambient: ambient)
      store.longCatchUp = sabotage == .publishedAtOnce ? 0 : 1_000_000
      return Device(store, user: device.0, writes: device.1)
    }
    self.folder = folder
  }

  /// Interleaves until so many transactions of the writers are committed, and lets everything come to rest.
  func run(_ transactions: Int) throws {
    while count.transactions < transactions { try step() }
    for writer in writers { try writer.abandon() }
    holder = nil
    try settle()
  }

  /// Times in which the writers are nearly alone take turns with times in which everybody pulls between their steps.
  private func step() throws {
    let isDense = count.transactions % 250 >= 210
    let device = holder == nil ? (isDense ? 0.6 : 0.006) : (isDense ? 0.11 : 0.001)
    if random.chance(device) {
      if let device = random.pick(devices) { try act(device) }
    } else if random.chance(0.05) {
      // Somebody else wants to write; while the lock is held they cannot.
      let other = Int.random(in: 0..<writers.count, using: &random)
      if other != holder { try begin(other) }
    } else if holder == nil, random.chance(0.02) {
      try sequence()
    } else if let holder {
      try advance(holder)
    } else {
      try begin(Int.random(in: 0..<writers.count, using: &random))
    }
  }

  // MARK: Writers

  private func begin(_ index: Int) throws {
    tokens += 1
    switch try writers[index].begin(tokens, log.rows, &random) {
    case .busy: count.lockedOut += 1
    default: holder = index
    }
  }

  private func advance(_ index: Int) throws {
    switch try writers[index].step(log.rows, &random) {
    case .busy, .working: return
    case .committed(let token, let changes):
      log.commit(token, changes)
      count.transactions += 1
    case .rolledBack: count.rolledBack += 1
    }
    holder = nil
  }

  private func sequence() throws {
    try server.sequence()
    noteRun(try server.history().head)
  }

  func noteRun(_ head: Int64) {
    if runs.last == head {
      runs.removeLast()
      runCommits.removeLast()
    }
    runs.append(head)
    runCommits.append(log.commits)
  }

  /// Faults have stopped and nobody writes: within a bounded number of rounds all queues are empty and all have everything.
  private func settle() throws {
    for _ in 0..<40 {
      try sequence()
      for device in devices {
        device.inFlight = nil
        try push(device)
        for _ in 0..<200 {
          try pull(device, limit: 40)
          try deliver(device)
          device.inFlight = nil
          if device.store.cursor?.position == runs.last, device.store.cursor?.open.isEmpty == true { break }
        }
      }
      if devices.allSatisfy({ $0.pending.isEmpty && $0.store.cursor?.head == runs.last }) { return }
    }
    throw WorldError("the world does not come to rest, seed \(seed)")
  }
}
