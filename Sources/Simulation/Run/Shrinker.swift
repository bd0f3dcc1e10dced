// SPDX-License-Identifier: Apache-2.0

/// Makes a failing plan small: whatever can be left out while the same check still breaks is left out (delta debugging:
/// Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).
package struct Shrinker {
  private let simulation: Simulation
  private let check: String
  private var left: Int
  private let broke: Int
  /// The smallest plan so far that breaks.
  package private(set) var plan: Plan

  /// - Parameter limit: how many runs it may take.
  package init(_ simulation: Simulation, _ result: Simulation.Result, limit: Int = 600) {
    self.simulation = simulation
    check = result.broken?.check ?? ""
    plan = result.plan
    left = limit
    broke = result.step
  }

  package mutating func run() {
    // Mostly what came after the step at which it broke does not matter.
    var begun = plan
    begun.steps = Array(plan.steps.prefix(broke))
    if breaks(begun) { plan = begun } else if !breaks(plan) { return }
    dropFaults()
    dropSteps()
    dropFaults()
    dropDevices()
    var orderly = plan
    orderly.isOrderly = true
    if breaks(orderly) { plan = orderly }
    dropSteps()
  }

  private mutating func breaks(_ candidate: Plan) -> Bool {
    guard left > 0 else { return false }
    left -= 1
    return simulation.run(candidate).broken?.check == check
  }

  private mutating func dropFaults() {
    for kind in plan.profile.faults.sorted() {
      var fewer = plan
      fewer.profile.faults.remove(kind)
      fewer.steps.removeAll { $0.fault == kind }
      if breaks(fewer) { plan = fewer }
    }
  }

  private mutating func dropSteps() {
    var size = plan.steps.count / 2
    while size > 0 {
      var index = 0
      while index < plan.steps.count {
        var fewer = plan
        fewer.steps.removeSubrange(index..<min(index + size, plan.steps.count))
        if breaks(fewer) { plan = fewer } else { index += size }
      }
      size /= 2
    }
  }

  private mutating func dropDevices() {
    while plan.profile.owners.count > 1 {
      var fewer = plan
      fewer.profile.owners.removeLast()
      if !breaks(fewer) { return }
      plan = fewer
    }
  }
}
