// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
package import SkerryMachine

/// What a seed's world is like: its size, its limits, and which faults exist in it (swarm testing: Groce, Zhang, Eide, Chen,
/// Regehr, "Swarm Testing", 2012). Everything is drawn from the seed.
package struct Profile: Sendable, Equatable {
  /// How fast things happen.
  package enum Pace: String, Sendable, CaseIterable {
    /// Milliseconds to seconds between steps: everything meets everything.
    case race
    /// Seconds to minutes.
    case lively
    /// Minutes to hours, as people do: days go by in one run.
    case daily
  }

  package var users: Int
  /// The user of each device.
  package var owners: [Int]
  package var servers: Int
  package var pace: Pace
  /// Mutations in one push, and items in one page.
  package var batch: Int
  package var page: Int
  /// Milliseconds between rounds, and the highest back-off.
  package var interval: Int64
  package var backOff: Int64
  /// The items above which a catch-up is published page by page.
  package var longCatchUp: Int64
  /// How long a device waits for an answer, in milliseconds.
  package var timeOut: Int64
  /// How many versions of the schema there are; everyone begins with the first.
  package var versions = 1
  package var faults: Set<FaultKind>
  /// The share of messages that some fault befalls, in the storms.
  package var messageFaults: Double
  /// The share of steps that are faults, in the storms.
  package var stepFaults: Double
  /// From this step on the first device is out of reach until everything heals.
  package var awayFrom: Int?

  /// Draws a profile.
  ///
  /// - Parameters:
  ///   - steps: how many steps the run will have.
  ///   - allowed: the kinds of faults that may exist.
  package init(seed: UInt64, steps: Int, allowed: Set<FaultKind> = Set(FaultKind.allCases)) {
    var random = SeededGenerator(seed: seed ^ 0x70F1)
    func one<T>(_ items: T...) -> T { items[Int(random.next() % UInt64(items.count))] }
    users = one(1, 2, 2, 3, 3, 4)
    let count = one(1, 2, 2, 3, 3, 4, 5, 8)
    owners = (0..<count).map { $0 == 0 ? 0 : Int(random.next() % UInt64($0 < 2 ? 2 : 8)) }
    owners = owners.map { [users] in $0 % users }
    servers = one(1, 1, 2, 3)
    pace = one(.race, .race, .lively, .lively, .daily)
    batch = one(1, 2, 3, 5, 20, 100)
    page = one(1, 2, 3, 5, 8, 40, 500)
    interval = pace == .daily ? one(900_000, 1_800_000) : pace == .race ? one(5_000, 60_000) : one(60_000, 600_000)
    backOff = pace == .daily ? one(600_000, 1_800_000) : pace == .race ? one(4_000, 60_000) : one(30_000, 120_000)
    longCatchUp = one(0, 3, 8, 20, 1_000, 5_000)
    timeOut = one(5_000, 30_000)
    // Some seeds have no faults, some few, most about half of all kinds.
    let share = one(0, 0.15, 0.4, 0.5, 0.6, 0.85)
    faults = []
    for kind in FaultKind.allCases {
      let isDrawn = random.chance(share)
      if isDrawn, allowed.contains(kind) { faults.insert(kind) }
    }
    messageFaults = faults.isEmpty ? 0 : one(0.02, 0.1, 0.25, 0.5)
    stepFaults = faults.isEmpty ? 0 : one(0.03, 0.1, 0.2)
    let away = one(steps, steps, steps, steps / 3, steps / 2)
    awayFrom = away < steps && !faults.isEmpty ? away : nil
    // Draws of their own: seeds without versions are what they were.
    var draws = SeededGenerator(seed: seed ^ 0x5CE3)
    versions = [1, 1, 2, 3][Int(draws.next() % 4)]
  }

  /// The engine's policy in this world.
  package var policy: TimingPolicy {
    TimingPolicy(
      interval: interval, refusal: 60_000, retry: RetryPolicy(base: 1_000, cap: backOff, retryAfterCap: 600_000),
      batch: batch, page: page)
  }

  /// One line for a report.
  package var description: String {
    let kinds = faults.isEmpty ? "none" : faults.sorted().map(\.rawValue).joined(separator: " ")
    return
      "versions \(versions), users \(users), devices of users \(owners), servers \(servers), pace \(pace.rawValue), batch \(batch), page \(page), "
      + "interval \(interval) ms, long catch-up \(longCatchUp), faults: \(kinds)"
  }
}
