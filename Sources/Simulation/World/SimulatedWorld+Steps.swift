// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryAmbientKit
import SkerryDiskKit
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore

/// What people and programs do in one step.
extension SimulatedWorld {
  func perform(_ step: Step) {
    // Nothing is ready to run, so whatever was to be told has been heard.
    check { for device in devices where device.isUp { try checkAtRest(device) } }
    performed += 1
    for (device, after) in returns where after <= performed { device.isAway = false }
    returns.removeAll { $0.after <= performed }
    var random = SeededGenerator(seed: step.number)
    let device = devices[Int(random.next() % UInt64(devices.count))]
    switch step.kind {
    case .write: write(device, step.number, &random)
    case .discard: withEntries(device, &random) { discard($0, $1) }
    case .retry: retry(device)
    case .acknowledge:
      acknowledge(device)
      acknowledgeLoss(device)
    case .requestSync: requestSync(device)
    case .read: read(device)
    case .foreign: foreignStep(&random)
    case .foreignEnd:
      let isRollback = random.chance(0.3) && isStormy && plan.profile.faults.contains(.foreignRollback)
      if isRollback, foreign.isOpen { faults.note(.foreignRollback) }
      check { try foreign.end(isCommit: !isRollback) }
    case .sequence: sequence(&random)
    case .markSafe: markSafe()
    case .backUp: backUp()
    case .access: access(&random)
    case .updateApp: updateApp(device)
    case .updateServers: updateServers()
    case .canary: check { try foreign.writeSecretly() }
    case .fault:
      // A step of a kind that this world does not have passes its time and does nothing.
      if let kind = step.fault, plan.profile.faults.contains(kind) { inject(kind, device, &random) }
    }
  }

  /// Nothing is ready to run: what a device says of itself is what follows from what it heard.
  private func checkAtRest(_ device: DeviceNode) throws {
    // With looks at points only nobody knows which change was whose.
    if !plan.looksAtPointsOnly { try device.news.check(device.name) }
    guard let replica = device.replica, !device.isCut, device.frozenUntil <= now, !isExcused(device.label) else {
      device.wishedAt = nil
      return
    }
    let (condition, isConsistent) = replica.assumeIsolated { ($0.condition(), $0.report().isConsistent) }
    try device.talk.check(condition, isConsistent: isConsistent)
    if let before = device.wishedAt {
      try need(device.talk.sent > before, "F-C01 a wish to sync sends nothing", device.name)
    }
    device.wishedAt = nil
  }

  // MARK: People

  private func write(_ device: DeviceNode, _ number: UInt64, _ random: inout SeededGenerator) {
    let count = 1 + Int(random.next() % 3)
    let rows = device.oracle.last?.screen ?? [:]
    let deeds = author(for: device).deeds(count, seeing: rows, as: device.user, &random)
    let meets = random.chance(0.3)
    act(device, atNextMessage: meets) { [unowned self] in carryOut(deeds, device) }
  }

  private func carryOut(_ deeds: [Deed], _ device: DeviceNode) {
    guard let replica = device.replica, broken == nil, !isOver else { return }
    let intent = Intent(rules: model.rules, catalog: replica.catalog)
    look(device)
    device.talk.acted()
    device.oracle.attempt(intent)
    device.isChangeLocal = true
    do {
      let id = try replica.assumeIsolated { replica in
        try replica.write { tx in for deed in deeds { try intent.carryOut(deed, &tx) } }
      }
      device.acknowledged += id == nil ? 0 : 1
      for deed in deeds { remember(deed, by: device.user) }
      if plan.looksAtPointsOnly { device.oracle.note(id, try operations(of: id, device)) } else { look(device) }
      device.oracle.isCertain(intent)
      check { try device.oracle.acknowledge(id, intent) }
      journal.say(
        now, device.name, .write, "writes \(intent.steps.map(\.description)) as \(id.map { "\($0)" } ?? "nothing")")
    } catch {
      journal.say(now, device.name, .fault, "cannot write: \(error)")
      check {
        if error is Broken { throw error }
        try need(isExcused(device.label), "F-D01 a write failed without a cause", "\(device.name) \(error)")
      }
      // Whether it became durable all the same, the file will tell once it can be read.
      checkDeath(device)
      if device.isUp {
        device.isChangeLocal = true
        look(device)
      }
    }
  }

  private func operations(of id: MutationID?, _ device: DeviceNode) throws -> [Operation] {
    guard let id else { return [] }
    let bytes = try device.observe(disk).first("SELECT ops FROM skerry_outbox WHERE mid = ?", .blob(id.raw.bytes)) {
      $0.blob(0)
    }
    return try bytes.map { try Operation.decode($0) } ?? []
  }

  /// An error of a process is due if the disk failed it, or if it died.
  func isExcused(_ label: String) -> Bool { disk.failures(of: label) > 0 || disk.isDead(label) }

  /// Notices that a device's process has died at a call that a fault had been waiting for.
  func checkDeath(_ device: DeviceNode) {
    guard device.isUp, disk.isDead(device.label) else { return }
    journal.say(now, device.name, .crash, "dies in the middle of its work")
    device.closeObserver()
    device.stop()
    scheduleRestart(device)
  }

  /// What was written, so that a copy of it can be told.
  func remember(_ deed: Deed, by user: AccountID?) {
    let values: [String: Value]
    switch deed {
    case .insert(_, let given), .update(_, let given): values = given
    case .increment, .delete: return
    }
    for value in values.values {
      let bytes: [UInt8] =
        switch value {
        case .text(let text): Array(text.utf8)
        case .blob(let bytes): bytes
        default: []
        }
      for mark in ValueMaker.marks(in: bytes) { marks[mark] = (user, deed.key) }
    }
  }

  private func withEntries(
    _ device: DeviceNode, _ random: inout SeededGenerator, _ body: (DeviceNode, OutboxEntry) -> Void
  ) {
    guard let replica = device.replica, let entries = try? replica.assumeIsolated({ try $0.readHere(.outbox) }),
      !entries.isEmpty
    else { return }
    body(device, entries[Int(random.next() % UInt64(entries.count))])
  }

  private func discard(_ device: DeviceNode, _ entry: OutboxEntry) {
    guard let replica = device.replica else { return }
    look(device)
    device.talk.acted()
    device.withdrawals[entry.id] = now
    do {
      try replica.assumeIsolated { try $0.discard(entry) }
      device.oracle.withdrew(entry.id)
      device.isChangeLocal = true
      look(device)
      journal.say(now, device.name, .write, "withdraws \(entry.id)")
    } catch {
      checkDeath(device)
      // After an error of the disk it may have become durable; the file tells.
      device.oracle.withdrewMaybe(entry.id)
    }
  }

  func retry(_ device: DeviceNode) {
    device.talk.acted()
    guard let replica = device.replica, let entries = try? replica.assumeIsolated({ try $0.readHere(.outbox) }) else {
      return
    }
    for entry in entries where entry.state == .failed { try? replica.assumeIsolated { try $0.retry(entry) } }
    checkDeath(device)
  }

  private func acknowledge(_ device: DeviceNode) {
    guard let replica = device.replica, let refusals = try? replica.assumeIsolated({ try $0.readHere(.rejections) }),
      let refusal = refusals.first
    else { return }
    do {
      device.oracle.acknowledgedMaybe(refusal.id)
      try replica.assumeIsolated { try $0.acknowledge(refusal) }
      look(device)
      let isThere = device.oracle.last?.refusals.contains { $0.id == refusal.id } ?? false
      check { try need(!isThere, "INV 9 an acknowledged refusal is still there", "\(device.name) \(refusal.id)") }
    } catch { checkDeath(device) }
  }

  private func acknowledgeLoss(_ device: DeviceNode) {
    guard let replica = device.replica, let space = try? replica.assumeIsolated({ try $0.readHere(.lostSpaces) }).first
    else {
      return
    }
    look(device)
    let before = device.oracle.last?.lost ?? []
    do {
      try replica.assumeIsolated { try $0.acknowledgeLoss(of: space) }
      look(device)
      let after = device.oracle.last?.lost ?? []
      check {
        try need(
          after == before.subtracting([space]), "INV 9 an acknowledged loss is still told, or another is not",
          "\(device.name) \(space): \(before) then \(after)")
      }
    } catch { checkDeath(device) }
  }

  private func requestSync(_ device: DeviceNode) {
    guard let engine = device.engine, let replica = device.replica else { return }
    let isLockedOut = replica.assumeIsolated { $0.condition() } == .needsAuthentication
    device.talk.acted(isWish: true)
    if isLockedOut, device.talk.sent % 2 == 0 {
      // Signed in again: that wait is over.
      if !device.isCut { device.wishedAt = device.talk.sent }
      scheduler.spawn { await engine.authenticated() }
    } else {
      scheduler.spawn { await engine.requestSync() }
    }
    if !device.isCut, let replica = device.replica { secondEngine(device, replica) }
  }

  /// Another engine on the same replica must be turned away.
  private func secondEngine(_ device: DeviceNode, _ replica: Replica) {
    let other = SyncEngine(
      replica, transport: DeviceTransport(device: device, life: device.life, network: network),
      policy: plan.profile.policy, clock: VirtualClock(scheduler), executor: scheduler.taskExecutor)
    let life = device.life
    scheduler.spawn { [unowned self] in
      do {
        _ = try await other.syncOnce(within: .milliseconds(1))
        // It had a conversation of its own.
        device.talk = TalkOracle(plan.profile.policy, device.name)
        if device.life == life, device.isUp, !device.isCut, device.task?.isCancelled == false {
          check { throw Broken("F-L06 two engines drive one replica", device.name) }
        }
      } catch {}  // turned away
    }
  }

  /// Reads beside whatever is being written.
  private func read(_ device: DeviceNode) {
    guard let replica = device.replica, let engine = device.engine, let table = replica.catalog.tables.first else {
      return
    }
    look(device)
    let looks = figures.looks
    scheduler.spawn { [unowned self] in
      let rows = try? await replica.read("SELECT count(*) AS n FROM \"\(table.name)\"")
      guard device.replica === replica, figures.looks == looks, let shown = device.oracle.last?.screen else { return }
      let wanted = Int64(shown.keys.count { $0.table == table.name })
      let found = rows?.first?["n"]?.integer
      check {
        try need(found == nil || found == wanted, "INV 5 a query sees other rows", "\(device.name) \(table.name)")
      }
    }
    scheduler.spawn { [unowned self] in await readRecords(of: table, replica, device, looks) }
    scheduler.spawn { [unowned self] in await askCondition(replica, engine, device) }
  }

  /// Every row, as the records that an app reads.
  private func readRecords(of table: TableInfo, _ replica: Replica, _ device: DeviceNode, _ looks: Int) async {
    guard let found = try? await Scribes.of(table.name, in: replica.catalog)?.all(replica) else { return }
    guard device.replica === replica, figures.looks == looks, let last = device.oracle.last else { return }
    let shown = last.screen.filter { $0.key.table == table.name }
    check {
      let wanted = shown.mapValues { last.lens.own(table.name, $0.values) }
      try need(
        found == wanted, "INV 5 records are read that are not there, or otherwise", "\(device.name) \(table.name)")
    }
  }

  /// What the engine tells the app is what its machine says.
  private func askCondition(_ replica: Replica, _ engine: SyncEngine, _ device: DeviceNode) async {
    let before = await replica.condition()
    let told = await engine.condition()
    let after = await replica.condition()
    guard before == after else { return }
    check {
      try need("\(told)" == "\(before)", "INV 9 the app is told another condition", "\(device.name) \(told), \(before)")
    }
  }
}
