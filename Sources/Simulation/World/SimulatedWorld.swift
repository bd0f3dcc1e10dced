// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryAmbientKit
import SkerryDiskKit
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryWire
import Synchronization

/// One run's world: servers on one storage, devices of several users, programs that write the server's file, a network, and
/// the oracles that watch them. Everything in it runs on the scheduler's one thread.
// Unchecked: used on the scheduler's one thread.
final class SimulatedWorld: @unchecked Sendable {
  let plan: Plan
  /// The versions of the schema, in order; the oracles hold all rows in the columns of the last one.
  let lenses: [Lens]
  /// Which of them the servers are started with.
  var serverVersion = 0
  let scheduler: Scheduler
  let disk: MemoryDisk
  let journal: Journal
  let model: ModelServer
  let reader: FileReader
  /// Of the last version; where a message has no rows, of any.
  let codec: JSONCodec
  private let authors: [Author]
  private(set) lazy var network = Network(self, seed: plan.seed ^ 0xFA17)
  var servers: [ServerNode] = []
  /// The server process that the last request came to.
  var served = "network"
  var devices: [DeviceNode] = []
  private(set) lazy var foreign = ForeignProgram(self)
  var faults = FaultCounts()
  var figures = RunFigures()
  /// Draws of the schedule: which server, how long a process is down.
  var choices: SeededGenerator
  /// Whether faults of the profile may happen now.
  var isStormy = false
  private(set) var broken: Broken?
  /// The newest number that a hostile client has given.
  var hostileNumber: Int64 = 0
  /// Nothing starts any more.
  var isOver = false
  var observer: SQLiteConnection?
  var observerLabel = ""
  var observers = 0
  /// What the disk had been asked for when the devices were last looked at.
  private var seenActivity = -1
  /// Pushes of which the file could not be asked yet.
  var unseen: [(PushRequest, AccountID, isHostile: Bool)] = []
  /// What each mark was written into, and by whom.
  var marks: [String: (user: AccountID?, key: RowKey)] = [:]
  /// Steps performed, and who comes back into reach after how many.
  var performed = 0
  var returns: [(device: DeviceNode, after: Int)] = []
  var backup: ServerBackup?
  var images: [Int: DeviceBackup] = [:]
  private var actions: [Int: [@Sendable () -> Void]] = [:]

  init(_ plan: Plan, schema: Schema, keepsStory: Bool, isAlone: Bool) throws {
    self.plan = plan
    let lenses = try schema.versions(plan.profile.versions)
    self.lenses = lenses
    let last = lenses[lenses.count - 1]
    scheduler = Scheduler(seed: plan.seed ^ 0x5C4E)
    scheduler.isOrderly = plan.isOrderly
    disk = MemoryDisk(seed: plan.seed, isDefault: isAlone)
    journal = Journal(isKept: keepsStory)
    model = ModelServer(last.schema)
    reader = FileReader(lenses)
    codec = last.codec
    choices = SeededGenerator(seed: plan.seed ^ 0xC401)
    let users = (0..<plan.profile.users).map { AccountID("user\($0)") }
    authors = lenses.map { Author(last.schema, known: $0.schema, users: users) }
    let scheduler = scheduler
    disk.now = { scheduler.now }
  }

  var now: Int64 { scheduler.now }
  /// Writes what the server's version knows.
  var author: Author { authors[serverVersion] }
  var serverLens: Lens { lenses[serverVersion] }

  /// Writes what a device's version knows.
  func author(for device: DeviceNode) -> Author { authors[device.version] }

  /// Remembers the first check that broke; the run ends then.
  func check(_ body: () throws -> Void) {
    guard broken == nil else { return }
    do { try body() } catch let error as Broken { broken = error } catch {
      broken = Broken("I-16 an error that nobody expected", "\(error)")
    }
    if let broken { journal.say(now, "oracle", .fault, "BROKEN \(broken)") }
  }

  // MARK: Beginning

  func begin() throws {
    let profile = plan.profile
    for number in 0..<profile.servers {
      let node = ServerNode(number, ambient: NodeAmbient(scheduler, seed: plan.seed ^ 0x5E00 ^ UInt64(number)))
      try node.start(on: disk, lenses.prefix(serverVersion + 1))
      servers.append(node)
    }
    try foreign.write(author.beginning(serverLens.schema))
    backUp()
    for (index, owner) in profile.owners.enumerated() { try addDevice(user: author.users[owner], skew: skew(index)) }
    scheduler.afterStep = { [unowned self] in self.afterStep() }
  }

  private func skew(_ index: Int) -> Int64 {
    guard plan.profile.faults.contains(.clockSkewed) else { return 0 }
    faults.note(.clockSkewed)
    let day: Int64 = 86_400_000
    return [-1, 300_000, day, -day, 3_650 * day, -3_650 * day][index % 6]
  }

  func addDevice(user: AccountID, skew: Int64 = 0, prepare: (DeviceNode) -> Void = { _ in }) throws {
    let number = devices.count
    let ambient = NodeAmbient(scheduler, seed: plan.seed ^ 0xDE00 ^ UInt64(number) << 20)
    ambient.skew = skew
    let name = "device \(number)"
    let device = DeviceNode(
      name: name, number: number, user: user, ambient: ambient,
      oracle: DeviceOracle(name: name, user: user, model: model), policy: plan.profile.policy)
    device.version = serverVersion
    devices.append(device)
    prepare(device)
    restart(device)
  }

  // MARK: After each job

  private func afterStep() -> Bool {
    let activity = disk.activity
    if activity == seenActivity { return broken == nil }
    defer { seenActivity = disk.activity }
    for device in devices where device.isUp {
      checkDeath(device)
      if device.isUp { look(device) }
    }
    return broken == nil
  }

  /// Looks at a device's file if it has changed.
  func look(_ device: DeviceNode, always: Bool = false) {
    check {
      defer { device.isChangeLocal = false }
      guard try device.hasChanged(disk) || always else { return }
      if plan.looksAtPointsOnly, !always, try !device.isAtNewPoint(disk) { return }
      let connection = try device.observe(disk)
      let reading = try DeviceReading(connection, reader)
      let before = device.oracle.last
      try device.oracle.look(reading) { id, place in
        let queue = [.confirmed: "skerry_archive", .refused: "skerry_inbox"][place] ?? "skerry_outbox"
        let bytes = try connection.first("SELECT ops FROM \(queue) WHERE mid = ?", .blob(id.raw.bytes)) { $0.blob(0) }
        return try bytes.map { try Operation.decode($0) } ?? []
      }
      // What is offered again waits anew for what is offered again with it.
      if device.oracle.isResetTaken { device.waits.removeAll() }
      device.news.changed(from: before, to: reading, isLocal: device.isChangeLocal || plan.looksAtPointsOnly)
      try StatusOracle.check(device, reading)
      for entry in reading.outbox where entry.isFailed {
        guard let old = before?.outbox.first(where: { $0.id == entry.id }), !old.isFailed else { continue }
        try need(device.talk.maySetAside(entry.id), "I-13 set aside without a cause", "\(device.name) \(entry.id)")
      }
      figures.looks += 1
    }
  }

  // MARK: The devices' side

  /// A response reaches a device.
  func hears(_ device: DeviceNode) {
    for action in actions.removeValue(forKey: device.number) ?? [] { scheduler.spawn { action() } }
  }

  /// Does something on a device: now, or when it next hears something, so that the two meet.
  func act(_ device: DeviceNode, atNextMessage: Bool, _ body: @escaping @Sendable () -> Void) {
    guard atNextMessage else {
      scheduler.spawn { body() }
      return
    }
    let once = Once(body)
    actions[device.number, default: []].append { once.run() }
    scheduler.after(3_000) { [scheduler] in scheduler.spawn { once.run() } }
  }

  /// The engine's loop has ended by itself: the file could not be used. An app starts anew.
  func engineEnded(_ device: DeviceNode, life: Int, _ error: any Error) {
    guard device.life == life, device.isUp, !(error is CancellationError) else { return }
    if error is EngineBusy {
      // Another engine has the conversation just now: it is tried again.
      scheduler.after(1_000) { [unowned self] in
        if device.life == life, device.isUp, !device.isCut { device.run(in: self) }
      }
      return
    }
    journal.say(now, device.name, .crash, "the engine ends: \(error)")
    check { try need(isExcused(device.label), "F-D03 the engine gave up without a cause", "\(device.name): \(error)") }
    kill(device)
    scheduleRestart(device)
  }
}

/// Runs a closure the first time only.
private final class Once: Sendable {
  private let body: Mutex<(@Sendable () -> Void)?>

  init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

  func run() {
    let body = body.withLock { body in
      defer { body = nil }
      return body
    }
    body?()
  }
}
