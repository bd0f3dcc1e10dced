// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit
import SkerryCommands
import SkerrySQLiteKit
import SkerryWire

/// One run: a server and three devices under load, a plan of deaths, and the judgement at the end.
actor KillRun {
  static let writersOfADevice = 3

  nonisolated let folder: String
  private nonisolated let executor = SerialQueueExecutor(label: "skerry.kill.run")
  private let plan: [Kill]
  private let seed: UInt64
  private let patience: Int
  private let stage: Stage
  private let ledger: Ledger
  private let progress = Progress()
  private let findings = Findings()
  private var content = LedgerContent()
  private var figures = Figures()

  /// Reading files blocks.
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// - Parameter patience: a point that is not reached while so many orders are acknowledged never will be.
  init(_ plan: [Kill], seed: UInt64, patience: Int = 3_000) throws {
    self.plan = plan
    self.patience = patience
    self.seed = seed
    // Not in memory: a process that waits for the disk is one more moment to die at.
    folder =
      FileManager.default.temporaryDirectory.appendingPathComponent(
        "skerry-kill-" + ProcessInfo.processInfo.globallyUniqueString
      ).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    stage = try Stage(folder: folder, seed: seed)
    ledger = try Ledger(path: folder + "/ledger")
  }

  /// - Returns: what was found wrong, and the figures for the closing note.
  func run() async throws -> (faults: [String], figures: Figures) {
    let start = SystemAmbient().now()
    do {
      try await prepare()
      try await carryOutPlan()
      try await settle()
      try judge()
    } catch {
      findings.add("the run ended early: \(error)")
    }
    await stage.killAll()
    figures.milliseconds = SystemAmbient().now() - start
    (figures.lost, figures.doubled) = (findings.lost, findings.doubled)
    return (findings.faults, figures)
  }

  /// For whoever looks for the cause: what is needed to look on.
  nonisolated var description: String {
    "seed \(seed), files and ledger are kept in \(folder), plan: \(plan.map(\.description).joined(separator: "; "))"
  }

  nonisolated func removeFiles() throws { try FileManager.default.removeItem(atPath: folder) }

  // MARK: Before

  /// A team of both accounts, and the counters. The device's own account of these writes goes into the ledger too.
  private func prepare() async throws {
    try await stage.start(.server)
    try await stage.start(.device(0), runs: false)
    let device = try await stage.device(0)
    var steps: [Step] = [.insert(RowName(table: "teams", id: Rows.team), ["name": "Crew"])]
    for account in ["ana", "ben"] {
      steps.append(
        .insert(
          RowName(table: "members", id: "member-\(account)"), ["team": .string(Rows.team), "user": .string(account)]))
    }
    let counters = (Rows.counters + Rows.bareCounters).map { row in
      Step.insert(row, ["team": .string(Rows.team), "first": "counter", "last": .string(row.id)])
    }
    for steps in [steps, counters] {
      let order = Order(writer: "\(Stage.devices[0].folder).prepare", number: ledger.nextNumber(), steps: steps)
      try await ledger.intend(order)
      let answer = try await device.order(
        "/write", ["label": .string(order.label), "operations": .array(steps.map(\.json))])
      guard case .string(let mutation)? = answer["mutation"] else { throw ProcessError("nothing was written") }
      try await ledger.acknowledge(order, mutation: mutation)
    }
    try await sync(0)
    for index in Stage.devices.indices {
      if index == 0 { try await stage.end(.device(0)) }
      try await stage.start(.device(index), runs: false)
      try await sync(index)
      try await stage.end(.device(index))
      try await stage.start(.device(index))
    }
  }

  // MARK: The plan, under load

  private func carryOutPlan() async throws {
    let (stage, progress, ledger, findings) = (stage, progress, ledger, findings)
    let foreign = try ForeignWriter(stage.files.database, ledger, progress, seed: seed &+ 1_000)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, device) in Stage.devices.enumerated() {
        for number in 0..<KillRun.writersOfADevice {
          let seed = seed &* 100 &+ UInt64(index * 10 + number)
          group.addTask {
            var writer = Writer(
              "\(device.folder).\(number)", stage.seats[index], ledger, progress, findings, seed: seed)
            try await writer.run()
          }
        }
      }
      group.addTask { try await foreign.run { stage.seats[0].isClosed } }
      group.addTask { try await self.killAll() }
      // Whatever fails ends all.
      defer { endLoad() }
      while try await group.next() != nil {}
    }
  }

  private func endLoad() {
    for seat in stage.seats { seat.close() }
    progress.end()
  }

  /// Carries the plan out, and ends the load.
  private func killAll() async throws {
    for (number, kill) in plan.enumerated() {
      try Task.checkCancellation()
      try await carryOut(kill, number)
    }
    // Some more, so that the last death is followed by work too.
    await progress.reach(progress.count + 20)
    endLoad()
  }

  private func carryOut(_ kill: Kill, _ number: Int) async throws {
    let victim = kill.victim
    switch kill.moment {
    case .random(let count): await progress.reach(progress.count + count)
    case .armed(let point, let number):
      try await stage.end(victim)
      try await stage.start(victim, stopAt: "\(point):\(number)")
      let (progress, limit) = (progress, progress.count + patience)
      guard try await stage.waitUntilStopped(victim, while: { progress.count < limit }) else {
        throw ProcessError("\(kill): the point was not reached in \(patience) orders")
      }
      // What is to be in the middle of a transaction holds the file; after a push nobody needs to.
      if point != .answer, try !Autopsy.isLocked(stage.file(of: victim)) {
        findings.add("\(kill): it stopped outside of a transaction")
      }
    }
    try await stage.kill(victim)
    figures.kills[kill.kind, default: 0] += 1
    try await ledger.note("kill \(number): \(kill)")
    let waiting = try examine(victim, "kill \(number), \(kill)")
    let told = try await stage.start(victim)
    if told > waiting { findings.add("\(kill): \(waiting) waited in the file, the device speaks of \(told)") }
  }

  /// Opens the file of a process that has just been killed.
  ///
  /// - Returns: how many mutations wait in it.
  private func examine(_ victim: Victim, _ kill: String) throws -> Int {
    let path = stage.file(of: victim)
    // First the ledger: what was acknowledged until now was on the disk before.
    try content.read(ledger.path)
    var faults = try Autopsy.faults(path)
    var waiting = 0
    if case .device(let index) = victim {
      let (file, name) = (try DeviceContent(path), Stage.devices[index].folder)
      waiting = file.pending
      faults += Autopsy.lost(file, name, content)
      faults += try Autopsy.torn(path, file, name, content)
    }
    findings.add(faults.map { "\(kill): \($0)" })
    return waiting
  }

  // MARK: After

  /// Everything starts anew, without faults and without points to stop at, and syncs until all are in step.
  private func settle() async throws {
    let victims = [Victim.server] + Stage.devices.indices.map { .device($0) }
    for victim in victims.reversed() { try await stage.end(victim) }
    for victim in victims { try await stage.start(victim, runs: false) }
    // The last device that pushes is behind nobody, so a second time is enough.
    for index in Array(Stage.devices.indices) + Array(Stage.devices.indices) { try await sync(index) }
    for index in Stage.devices.indices {
      let state = try await stage.device(index).order("/state")
      if state["mismatches"] != 0 { findings.add("\(Victim.device(index)): digests differ: \(state)") }
    }
    for victim in victims.reversed() { try await stage.end(victim) }
  }

  private func sync(_ index: Int) async throws {
    var answer: JSON = nil
    for _ in 0..<50 {
      answer = try await stage.device(index).order("/sync")
      if answer["report"]?["consistent"] == true, answer["pending"] == 0 { return }
    }
    throw ProcessError("\(Victim.device(index)) did not come in step with its server: \(answer)")
  }

  private func judge() throws {
    content = LedgerContent()
    try content.read(ledger.path)
    let victims = [Victim.server] + Stage.devices.indices.map { .device($0) }
    var audits: [Audit] = []
    for victim in victims {
      let path = stage.file(of: victim)
      findings.add(try Autopsy.faults(path, isThorough: true).map { "\(victim) at the end: \($0)" })
      audits.append(try Audit(path, stage.schema))
    }
    for (victim, audit) in zip(victims, audits) where audit != audits[0] {
      findings.add("\(victim) holds other rows than the server: \(audit.counts), \(audits[0].counts)")
    }
    var devices: [String: DeviceContent] = [:]
    for index in Stage.devices.indices {
      devices[Stage.devices[index].folder] = try DeviceContent(stage.file(of: .device(index)))
    }
    let server = try ServerContent(stage.files.database, stage.schema)
    let judgement = Judgement(content, server, devices)
    findings.add(judgement.faults)
    figures.take(content, judgement)
    try checkTheJudge(server, devices)
  }

  /// The same judgement must find what is not true, in this very ledger.
  private func checkTheJudge(_ server: ServerContent, _ devices: [String: DeviceContent]) throws {
    for (name, forgery) in Forgery.all(content) where Judgement(forgery, server, devices).faults.isEmpty {
      findings.add("the judgement did not notice a ledger with \(name)")
    }
  }
}
