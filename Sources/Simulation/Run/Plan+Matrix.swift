// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit

extension Plan {
  /// One run of the matrix by which a public test of another engine found 30 to 40 % of its runs stuck or diverged: 5 or 10
  /// replicas of one user, 10 to 40 transactions a second for 100 to 300 seconds, and partitions of 0 to 10 seconds, inward,
  /// outward and both ways, all the time.
  package static func matrix(_ seed: UInt64) -> Plan {
    var random = SeededGenerator(seed: seed ^ 0x3A71)
    func one<T>(_ items: T...) -> T { items[Int(random.next() % UInt64(items.count))] }
    var profile = Profile(seed: seed, steps: 1, allowed: [])
    profile.users = 1
    profile.owners = Array(repeating: 0, count: one(5, 10))
    profile.servers = 1
    profile.batch = 100
    profile.page = 500
    profile.interval = 2_000
    profile.backOff = 8_000
    profile.longCatchUp = 5_000
    profile.timeOut = 5_000
    profile.faults = [.partitionInward, .partitionOutward, .partitionBoth]
    profile.awayFrom = nil
    let rate: Int64 = one(10, 20, 30, 40)
    let length: Int64 = one(100, 200, 300) * 1_000
    let kinds: [FaultKind] = [.partitionInward, .partitionOutward, .partitionBoth]
    var steps: [Step] = []
    var (time, nextPartition): (Int64, Int64) = (0, 0)
    while time < length {
      let pause = Int64(random.next() % UInt64(2_000 / rate))
      time += pause
      if time >= nextPartition {
        // Several devices at a time, so that at most moments somebody is cut off.
        nextPartition = time + Int64(random.next() % 2_000)
        steps.append(
          Step(kind: .fault, number: random.next(), pause: 0, phase: .storm, fault: kinds[Int(random.next() % 3)]))
      }
      steps.append(Step(kind: .write, number: random.next(), pause: pause, phase: .storm))
    }
    var plan = Plan(seed: seed, profile: profile, steps: 0)
    plan.steps = steps
    plan.looksAtPointsOnly = true
    return plan
  }
}
