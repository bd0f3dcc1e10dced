// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel
import SkerrySimulation
import Testing

@Suite struct SimulationTests {
  static let isSoak = ProcessInfo.processInfo.environment["SKERRY_SOAK"] != nil
  /// A debug build is slow: some in the ordinary run; `skerry simulate` runs as many as one likes.
  static let seeds: [UInt64] = Array(1...(isSoak ? 200 : 8))
  /// Seeds that broke a check once.
  static let broken: [UInt64] = [12, 88, 114, 119, 120, 146, 162, 213, 459, 619]
  static let simulation = Simulation(.simulated)

  @Test(arguments: seeds)
  func `a seed with everything that goes wrong ends with all equal and nothing lost`(_ seed: UInt64) {
    let result = SimulationTests.simulation.run(Plan(seed: seed, steps: 100))
    #expect(result.broken == nil, "seed \(seed)")
    #expect(result.figures.acknowledged > 0)
  }

  @Test(arguments: isSoak ? broken : Array(broken.prefix(2)))
  func `a seed that broke a check once is green`(_ seed: UInt64) {
    #expect(SimulationTests.simulation.run(Plan(seed: seed, steps: 300)).broken == nil, "seed \(seed)")
  }

  @Test
  func `a run in which the server's file is changed behind the oracles' back always fails, and shrinks to that step`() {
    var plan = Plan(seed: 3, profile: Profile(seed: 3, steps: 40, allowed: []), steps: 40)
    plan.steps.insert(Step(kind: .canary, number: 1, pause: 0, phase: .warmUp), at: 20)
    let result = SimulationTests.simulation.run(plan)
    #expect(result.broken != nil)
    var shrinker = Shrinker(SimulationTests.simulation, result, limit: 80)
    shrinker.run()
    #expect(shrinker.plan.steps.map(\.kind) == [.canary])
  }

  @Test func `the story and its picture show every process and what befell it`() {
    var profile = Profile(seed: 5, steps: 80, allowed: [])
    profile.faults = [.answerLost, .deviceKilled]
    (profile.messageFaults, profile.stepFaults) = (0.3, 0.3)
    let result = SimulationTests.simulation.run(Plan(seed: 5, profile: profile, steps: 80), keepsStory: true)
    #expect(result.faults[.answerLost] > 0 && result.faults[.deviceKilled] > 0)
    let text = result.journal.text()
    #expect(text.contains("device-killed") && text.contains("answer-lost") && text.contains("/v1/pull"))
    let picture = Timeline(result.journal).svg
    #expect(picture.hasPrefix("<svg") && picture.contains("class=\"crash\"") && picture.contains("class=\"message\""))
  }

  @Test func `a seed draws the same plan each time, and another seed another`() {
    #expect(Plan(seed: 7, steps: 50).steps == Plan(seed: 7, steps: 50).steps)
    #expect(Plan(seed: 7, steps: 50).steps != Plan(seed: 8, steps: 50).steps)
    #expect(Profile(seed: 7, steps: 50) == Profile(seed: 7, steps: 50))
  }
}
