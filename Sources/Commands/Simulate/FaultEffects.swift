// SPDX-License-Identifier: Apache-2.0

import SkerrySimulation

/// `skerry simulate --effects`: whether each kind of fault changes what happens. A kind that never does is a defect of the
/// simulator.
struct FaultEffects {
  private let options: SimulateOptions

  init(_ options: SimulateOptions) { self.options = options }

  func run() throws -> Int32 {
    let simulation = try options.simulation
    var isComplete = true
    Output.line("kind of fault            first seed with another outcome")
    for kind in FaultKind.allCases {
      let seed = options.range.first { differs(kind, seed: UInt64($0), simulation) }
      let name = kind.rawValue + String(repeating: " ", count: max(1, 25 - kind.rawValue.count))
      Output.line(name + (seed.map { "\($0)" } ?? "none of \(options.seeds)"))
      isComplete = isComplete && seed != nil
    }
    return isComplete ? 0 : 1
  }

  /// Whether messages or disks differ between a world with this kind alone and the same world without it.
  private func differs(_ kind: FaultKind, seed: UInt64, _ simulation: Simulation) -> Bool {
    var profile = Profile(seed: seed, steps: options.steps, allowed: [])
    profile.faults = [kind]
    (profile.messageFaults, profile.stepFaults) = (0.2, 0.2)
    let plan = Plan(seed: seed, profile: profile, steps: options.steps)
    var calm = plan
    // The same steps at the same times, of which the faults do nothing.
    calm.profile.faults = []
    let struck = simulation.run(plan)
    return struck.faults[kind] > 0 && struck.trace != simulation.run(calm).trace
  }
}
