// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageSQLite
import SkerryStore
import SkerryTestSupport
import SkerryWire

/// One thread that is everybody: four writers, three devices of two accounts and the server, whose steps it interleaves as a
/// seed says. The same seed gives the same run.
final class Interleaving {
  /// What is done to the pages on their way, to see that the oracle notices.
  enum Sabotage { case none, publishedAtOnce, leavesLost, changesLost, gainsHidden }

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
  private(set) var log = CommitLog()
  private(set) var count = Count()
  private let seed: UInt64
  private let sabotage: Sabotage
  private let writers: [ForeignWriter]
  private let stamp: SchemaStamp
  private var random: SeededGenerator
  private var holder: Int?
  var trace: [String] = []
  private var tokens = 0
  /// The last position of each sequencer run, and the commits before it.
  private var runs: [Int64] = [0]
  private var runCommits = [0]
  /// What the devices' mutations do, until the server has judged them.
  private var deeds: [MutationID: (token: Int, changes: [Deed])] = [:]

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
    let isDense = count.transactions % 80 >= 60
    let device = holder == nil ? (isDense ? 0.55 : 0.03) : (isDense ? 0.1 : 0.005)
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

  private func noteRun(_ head: Int64) {
    if runs.last == head {
      runs.removeLast()
      runCommits.removeLast()
    }
    runs.append(head)
    runCommits.append(log.commits)
  }

  // MARK: Devices

  private func act(_ device: Device) throws {
    if device.inFlight != nil, random.chance(0.5) { return try deliver(device) }
    let dice = device.writes ? Int.random(in: 0..<10, using: &random) : 9
    switch dice {
    case 0...2 where device.watcher.isFresh && device.pending.count < 4: try write(device)
    case 3,
      4 where !device.pending.isEmpty:
      try push(device)
    default:
      guard device.inFlight == nil else { return }
      try pull(device, limit: random.pick([1, 2, 3, 5, 8, 13, 21, 30, 40, 40]) ?? 40)
      if random.chance(0.7) { try deliver(device) }
    }
  }

  private func pull(_ device: Device, limit: Int) throws {
    let store = device.store
    let request = PullRequest(
      schema: stamp, replicas: store.replicaIDs, cursor: store.cursor, settled: try store.settledMark(), limit: limit)
    let answer = try server.pull(request, as: Place.users[device.user])
    count.pulls += 1
    if holder == nil { noteRun(answer.cursor.head) } else { count.besideWriter += 1 }
    device.inFlight = Pull(answer: answer, asked: request.cursor, when: store.clock, commits: log.commits)
  }

  private func deliver(_ device: Device) throws {
    guard let pull = device.inFlight else { return }
    if random.chance(0.95) { device.inFlight = nil }  // else it comes twice, and must not fit the second time
    switch pull.answer {
    case .reset(let reset): _ = try device.store.apply(reset, asked: pull.asked)
    case .page(let page):
      let page = spoiled(page)
      let effect = try device.store.apply(page, asked: pull.asked, when: pull.when)
      guard effect.isApplied else { return }
      for id in effect.settled { device.pending[id] = nil }
      count.cut += effect.isConsistent ? 0 : 1
      countItems(page)
      let reach = Watcher.Reach(
        read: pull.commits, head: commits(at: page.cursor.head), whole: commits(at: page.cursor.position),
        runs: runCommits)
      let fresh = device.watcher.faults[.foreign] == nil
      for item in page.items {
        trace.append(
          "dev\(device.user)\(device.writes) pos \(page.cursor.position) head \(page.cursor.head) closes \(page.closes) open \(page.cursor.open.map(\.space.text)): \(Interleaving.brief(item))"
        )
      }
      try device.watcher.applied(effect, device.store, log, reach, pending: device.touched)
      if fresh { dbg(device, reach, page) }
    }
  }

  func dbg(_ device: Device, _ reach: Watcher.Reach, _ page: Page) {
    guard let text = device.watcher.faults[.foreign] else { return }
    print(
      "FAULT seed", seed, "dev\(device.user)\(device.writes)", text, "pos", page.cursor.position, reach.read,
      reach.head, reach.whole)
    let row = Int(text.split(separator: " ")[1]) ?? 0
    print(
      "  versions", log.versionsText(row), "sights", log.sightsText(device.user), "consistent",
      device.watcher.consistentText)
    print("  runs", zip(runs, runCommits).suffix(14).map { "\($0.0):\($0.1)" })
    let parent = log.rows[row]?.parent ?? -1
    if parent >= 0 { print("  parent", parent, log.versionsText(parent)) }
    let mark = "/\(row) "
    for line in trace
    where line.hasPrefix("dev\(device.user)\(device.writes)")
      && (line.contains(mark) || line.contains(": gain") || line.contains(": lose") || line.contains(": filled"))
    { print("  ", line) }
  }
  static func brief(_ item: PageItem) -> String {
    switch item {
    case .gain(let s): "gain \(s) "
    case .lose(let s): "lose \(s) "
    case .filled(let s): "filled \(s) "
    case .put(let s, let i): "put \(i.key) in \(s) \(i.values[1])"
    case .left(let s, let k, let still): "left \(k) in \(s) still \(still)"
    case .deleted(let s, let k): "deleted \(k) in \(s)"
    case .receipt: "receipt"
    }
  }
  /// The commits before the newest run whose positions are all at or below this one.
  private func commits(at position: Int64) -> Int { runs.lastIndex { $0 <= position }.map { runCommits[$0] } ?? 0 }

  private func spoiled(_ page: Page) -> Page {
    var page = page
    switch sabotage {
    case .none, .publishedAtOnce: break
    case .leavesLost: page.items.removeAll { if case .left = $0 { true } else { false } }
    case .changesLost:
      if let last = page.items.lastIndex(where: { if case .put = $0 { true } else { false } }) {
        page.items.remove(at: last)
      }
    case .gainsHidden: page.items.removeAll { if case .lose = $0 { true } else { false } }
    }
    return page
  }

  private func countItems(_ page: Page) {
    for item in page.items {
      switch item {
      case .gain: count.gains += 1
      case .lose: count.losses += 1
      case .left: count.leaves += 1
      default: break
      }
    }
  }
}

extension Interleaving {
  /// One operation of a device, for the commit log.
  enum Deed {
    case insert(Int, Content)
    case set(Int, token: Int, home: SpaceBits?)
    case delete(Int)

    var row: Int {
      switch self {
      case .insert(let row, _), .set(let row, _, _), .delete(let row): row
      }
    }
  }

  /// A user changes two or three rows in one action.
  private func write(_ device: Device) throws {
    tokens += 1
    let token = tokens
    var deeds: [Deed] = []
    let (seen, gone) = (
      device.watcher.shown.indices.filter { device.watcher.shown[$0] != nil },
      Place.items.filter {
        device.watcher.shown[$0] == nil
      }
    )
    for _ in 0..<Int.random(in: 2...3, using: &random) {
      let isNew = random.chance(0.2)
      guard let row = random.pick(isNew ? gone : seen), !deeds.contains(where: { $0.row == row }) else { continue }
      if isNew {
        deeds.append(.insert(row, Content(token: token, home: random.pick(SpaceBits.single) ?? .ana)))
      } else if random.chance(0.1) {
        deeds.append(.delete(row))
      } else {
        let moves = Place.items.contains(row) && random.chance(0.2)
        deeds.append(.set(row, token: token, home: moves ? random.pick(SpaceBits.single) : nil))
      }
    }
    do {
      let id = try device.store.write { transaction in
        for deed in deeds { try Interleaving.carryOut(deed, &transaction) }
      }
      guard let id else { return }
      self.deeds[id] = (token, deeds)
      device.pending[id] = deeds.map(\.row)
    } catch is StoreError {}  // an own write that waits has changed what is shown: nothing happens
  }

  private static func carryOut(_ deed: Deed, _ transaction: inout WriteTransaction) throws {
    switch deed {
    case .insert(let row, let content):
      try transaction.insert(
        "item",
        [
          "id": .integer(Int64(row)), "token": .integer(Int64(content.token)),
          "home": content.home.name.map { .text($0) } ?? .null,
        ])
    case .set(let row, let token, let home):
      var values: [String: Value] = ["token": .integer(Int64(token))]
      if let name = home?.name { values["home"] = .text(name) }
      try transaction.update(Place.key(row), values)
    case .delete(let row): try transaction.delete(Place.key(row))
    }
  }

  private func push(_ device: Device) throws {
    let store = device.store
    let mutations = try store.offer(try store.ready(limit: 4))
    if mutations.isEmpty { return }
    let request = PushRequest(
      schema: stamp, replica: store.replicaIDs.last ?? "", cursor: store.cursor, settled: try store.settledMark(),
      mutations: mutations)
    let verdicts = try server.push(request, as: Place.users[device.user]).verdicts
    for case .settled(let id, let outcome) in verdicts {
      guard let (token, changes) = deeds.removeValue(forKey: id) else { continue }  // told before
      guard outcome == .confirmed else {
        count.refused += 1
        continue
      }
      count.confirmed += 1
      log.commit(token, changes.map { ($0.row, result(of: $0)) })
    }
    if random.chance(0.85) { try store.take(verdicts) }  // else the answer is lost
  }

  private func result(of deed: Deed) -> Content? {
    switch deed {
    case .insert(_, let content): return content
    case .delete: return nil
    case .set(let row, let token, let home):
      var content = log.rows[row]
      content?.token = token
      if let home { content?.home = home }
      return content
    }
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

extension PullAnswer {
  var cursor: Cursor {
    switch self {
    case .page(let page): page.cursor
    case .reset(let reset): reset.cursor
    }
  }
}
