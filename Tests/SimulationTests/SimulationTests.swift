// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel
import SkerrySimulation
import Testing

@Suite struct SimulationTests {
  static let isSoak = ProcessInfo.processInfo.environment["SKERRY_SOAK"] != nil
  /// A debug build is slow: some in the ordinary run; `skerry simulate` runs as many as one likes.
  static let seeds: [UInt64] = Array(1...(isSoak ? 200 : 8))
  /// Seeds that broke a check once, and in how many steps. What was wrong in the engine has a test of its own at its cause;
  /// a seed is another run once the workload has changed.
  static let broken: [(seed: UInt64, steps: Int)] = [
    (12, 300), (88, 300), (114, 300), (119, 300), (120, 300), (146, 300), (162, 300), (213, 300), (459, 300),
    (619, 300), (123, 200),
    (1, 500), (19, 400), (48, 500), (61, 500), (95, 500), (167, 400), (309, 500), (319, 500), (376, 500), (393, 500),
    (434, 500), (26, 2_000), (58, 2_000), (61, 2_000), (65, 2_000),
  ]
  static let simulation = Simulation(.simulated)

  @Test(arguments: seeds)
  func `a seed with everything that goes wrong ends with all equal and nothing lost`(_ seed: UInt64) {
    let result = SimulationTests.simulation.run(Plan(seed: seed, steps: 100))
    #expect(result.broken == nil, "seed \(seed)")
    #expect(result.figures.acknowledged > 0)
  }

  @Test(arguments: isSoak ? broken : Array(broken.prefix(2)))
  func `a seed that broke a check once is green`(_ seed: UInt64, _ steps: Int) {
    #expect(SimulationTests.simulation.run(Plan(seed: seed, steps: steps)).broken == nil, "seed \(seed)")
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

  @Test func `ten devices that are cut off from each other all the time come to agree`() {
    var plan = Plan.matrix(5)
    plan.steps = Array(plan.steps.prefix(120))
    #expect(SimulationTests.simulation.run(plan).broken == nil)
  }

  @Test func `a seed draws the same plan each time, and another seed another`() {
    #expect(Plan(seed: 7, steps: 50).steps == Plan(seed: 7, steps: 50).steps)
    #expect(Plan(seed: 7, steps: 50).steps != Plan(seed: 8, steps: 50).steps)
    #expect(Profile(seed: 7, steps: 50) == Profile(seed: 7, steps: 50))
  }
}
