// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit

/// The steps of a seed.
package struct Plan: Sendable {
  package let seed: UInt64
  package var profile: Profile
  package var steps: [Step]
  /// Picks the oldest ready job each time instead of a drawn one: what shrinking tries.
  package var isOrderly = false
  /// Devices are looked at when they say that they are as the server was, and at the end; otherwise after every change.
  package var looksAtPointsOnly = false

  /// Draws the steps of a seed.
  package init(seed: UInt64, steps count: Int, allowed: Set<FaultKind> = Set(FaultKind.allCases)) {
    self.init(seed: seed, profile: Profile(seed: seed, steps: count, allowed: allowed), steps: count)
  }

  package init(seed: UInt64, profile: Profile, steps count: Int) {
    self.seed = seed
    self.profile = profile
    var random = SeededGenerator(seed: seed ^ 0x57E9)
    let kinds = profile.faults.filter { kind in !FaultKind.ofMessages.contains { $0.0 == kind } }.sorted()
    // Some things happen often in this seed.
    var weights = Plan.weights
    for _ in 0..<3 { weights[Int(random.next() % UInt64(weights.count))].1 *= 3 }
    let total = weights.reduce(0) { $0 + $1.1 }
    steps = (0..<count).map { index in
      let phase = Plan.phase(of: index, in: count)
      var step = Step(
        kind: Plan.draw(weights, total, &random), number: random.next(), pause: Plan.pause(profile.pace, &random),
        phase: phase)
      let isFault = random.chance(profile.stepFaults)
      let drawn = kinds.isEmpty ? nil : kinds[Int(random.next() % UInt64(kinds.count))]
      if isFault, phase == .storm, let drawn {
        step = Step(kind: .fault, number: step.number, pause: step.pause, phase: phase, fault: drawn)
      }
      return step
    }
    addUpdates()
  }

  /// Apps and servers are updated here and there, in any order.
  private mutating func addUpdates() {
    if profile.versions == 1 || steps.isEmpty { return }
    var random = SeededGenerator(seed: seed ^ 0x0DA7)
    let apps = Array(repeating: Step.Kind.updateApp, count: (profile.versions - 1) * (profile.owners.count + 1))
    for kind in apps + Array(repeating: .updateServers, count: profile.versions - 1) {
      let place = Int(random.next() % UInt64(steps.count))
      let phase = steps[place].phase
      steps.insert(Step(kind: kind, number: random.next(), pause: 0, phase: phase), at: place)
    }
  }

  private static let weights: [(Step.Kind, Int)] = [
    (.write, 60), (.discard, 2), (.retry, 1), (.acknowledge, 2), (.requestSync, 5), (.read, 4), (.foreign, 14),
    (.foreignEnd, 5), (.sequence, 2), (.markSafe, 1), (.backUp, 1), (.access, 3),
  ]

  private static func draw(
    _ weights: [(Step.Kind, Int)], _ total: Int, _ random: inout SeededGenerator
  ) -> Step.Kind {
    var left = Int(random.next() % UInt64(total))
    for (kind, weight) in weights {
      if left < weight { return kind }
      left -= weight
    }
    return .write
  }

  /// Warm-up, storm, partial heal, storm; healing comes after the last step.
  private static func phase(of index: Int, in count: Int) -> Phase {
    switch index * 100 / max(count, 1) {
    case ..<10: .warmUp
    case ..<50: .storm
    case ..<60: .partialHeal
    default: .storm
    }
  }

  private static func pause(_ pace: Profile.Pace, _ random: inout SeededGenerator) -> Int64 {
    let number = Int64(random.next() >> 1)
    // Bursts: mostly the short pause of the pace, now and then a long one.
    let isLong = number % 12 == 0
    switch pace {
    case .race: return (number >> 8) % (isLong ? 20_000 : 300)
    case .lively: return (number >> 8) % (isLong ? 600_000 : 8_000)
    case .daily: return (number >> 8) % (isLong ? 3 * 3_600_000 : 200_000)
    }
  }
}
