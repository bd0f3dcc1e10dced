// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryDiskKit
package import SkerryModel

/// Runs plans: the real client and server code down to SQLite, with clock, network, disk and randomness replaced.
package struct Simulation: Sendable {
  package let schema: Schema
  /// Whether this process does nothing else with SQLite meanwhile, so that SQLite's own randomness can be replaced as well.
  /// Only then are two runs of a seed the same to the byte.
  package var isAlone: Bool

  package init(_ schema: Schema, isAlone: Bool = false) {
    self.schema = schema
    self.isAlone = isAlone
  }

  /// What a run of a plan came to.
  package struct Result {
    package let plan: Plan
    package let broken: Broken?
    /// The step at which it broke; the number of steps if that was while healing.
    package let step: Int
    package let faults: FaultCounts
    package let figures: RunFigures
    /// Folds every message, every choice of the scheduler and every write to the disk.
    package let trace: UInt64
    package let journal: Journal
  }

  /// Runs a plan from its beginning to the first check that breaks, or to its end.
  package func run(_ plan: Plan, keepsStory: Bool = false) -> Result {
    if isAlone { MemoryDisk.resetRandomness() }
    do {
      let world = try SimulatedWorld(plan, schema: schema, keepsStory: keepsStory, isAlone: isAlone)
      return run(world)
    } catch {
      return Result(
        plan: plan, broken: Broken("I-16 the world cannot be made", "\(error)"), step: 0, faults: FaultCounts(),
        figures: RunFigures(), trace: 0, journal: Journal(isKept: false))
    }
  }

  private func run(_ world: SimulatedWorld) -> Result {
    let start = world.now
    world.check { try world.begin() }
    var index = 0
    var time = start
    for step in world.plan.steps {
      if world.broken != nil { break }
      time = max(world.now, time + step.pause)
      world.enter(step.phase, at: index)
      world.scheduler.run(until: time)
      if world.broken == nil { world.perform(step) }
      index += 1
    }
    if world.broken == nil { world.scheduler.drain() }
    if world.broken == nil { world.heal() }
    world.close(start)
    let result = Result(
      plan: world.plan, broken: world.broken, step: index, faults: world.faults, figures: world.figures,
      trace: world.journal.hash ^ world.disk.traceHash, journal: world.journal)
    world.tearDown()
    world.disk.close()
    return result
  }
}

extension SimulatedWorld {
  fileprivate func enter(_ phase: Phase, at index: Int) {
    isStormy = phase == .storm
    if plan.profile.awayFrom == index {
      journal.say(now, devices[0].name, .fault, "is out of reach from now on")
      devices[0].isAway = true
    }
  }

  fileprivate func close(_ start: Int64) {
    figures.virtualMilliseconds = now - start
    figures.jobs = scheduler.steps
    figures.messages = network.messages
    figures.acknowledged = devices.reduce(0) { $0 + $1.acknowledged }
    figures.confirmed = model.receipts.values.reduce(0) { $0 + ($1.outcome == .confirmed ? 1 : 0) }
    for receipt in model.receipts.values where receipt.outcome != .confirmed {
      figures.refusals[receipt.outcome == .void ? "withdrawn" : receipt.code?.text ?? "-", default: 0] += 1
    }
    figures.rejected = model.receipts.count - figures.confirmed
    figures.rounds = devices.reduce(0) { $0 + $1.oracle.consistentPoints }
    figures.deviceDays = devices.reduce(0) {
      $0 + min(Double($1.acknowledged) / 100, Double($1.oracle.consistentPoints) / 48)
    }
    figures.lost = devices.reduce(0) { $0 + $1.oracle.missing }
    journal.fold(UInt64(scheduler.steps))
  }
}
