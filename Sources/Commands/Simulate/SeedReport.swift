// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit
import SkerrySimulation

/// What a run of one seed came to, as a worker process tells it.
struct SeedReport: Codable, Sendable {
  let seed: Int
  var check: String?
  var facts: String?
  var step = 0
  var trace = ""
  var figures = RunFigures()
  var faults: [String: Int] = [:]

  init(_ result: Simulation.Result, _ options: SimulateOptions) {
    seed = Int(result.plan.seed)
    check = result.broken?.check
    facts = result.broken?.facts
    step = result.step
    trace = String(result.trace, radix: 16)
    figures = result.figures
    for (kind, count) in result.faults.counts { faults[kind.rawValue] = count }
  }

  /// The process ended in the middle of this seed.
  init(crashed seed: Int) {
    self.seed = seed
    check = "the process ended"
    facts = "a trap or a signal; run it alone to see"
  }

  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  var line: String { "seed \(seed) broke \(check ?? "-") at step \(step): \((facts ?? "").prefix(300))" }
}

/// What all seeds came to.
struct SeedTotals {
  private(set) var seeds = 0
  private(set) var broken: SeedReport?
  private var brokenCount = 0
  private var figures = RunFigures()
  private var faults: [String: Int] = [:]
  private var slowest: Int64 = 0
  private var trace: UInt64 = 0

  mutating func add(_ report: SeedReport) {
    seeds += 1
    if report.check != nil {
      brokenCount += 1
      if broken.map({ report.seed < $0.seed }) ?? true { broken = report }
    }
    figures.add(report.figures)
    // A sum, since workers report in any order; each seed's part is spread over all bits.
    var spread = SeededGenerator(seed: (UInt64(report.trace, radix: 16) ?? 0) ^ UInt64(report.seed) << 32)
    trace &+= spread.next()
    slowest = max(slowest, report.figures.drained)
    faults.merge(report.faults, uniquingKeysWith: +)
  }

  func text(seconds: Double) -> String {
    let days = Double(figures.virtualMilliseconds) / 86_400_000
    func per(_ count: Int) -> String { String(format: "%.1f", Double(count) / max(figures.deviceDays, 0.001)) }
    func list(_ counts: [String: Int]) -> String {
      counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
    return """
      \(seeds) seeds in \(String(format: "%.1f", seconds)) s: \(brokenCount == 0 ? "green" : "\(brokenCount) broken")
      simulated time      \(String(format: "%.1f", days)) days, of which \(String(format: "%.1f", figures.deviceDays)) device-days of 100 writes and 48 rounds
      speed               \(String(format: "%.2f", figures.deviceDays / 365 / (seconds / 60))) device-years a minute, \(Int(Double(figures.jobs) / seconds)) jobs a second
      writes              \(figures.acknowledged) acknowledged, \(figures.confirmed) confirmed, \(figures.rejected) refused or void, \(figures.lost) lost
      refused             \(list(figures.refusals))
      other programs      \(figures.foreignCommits) commits, \(figures.updates) updates of apps and servers
      per device-day      \(per(figures.looks)) commits seen on devices, \(per(figures.messages)) messages, \(per(faults.values.reduce(0, +))) faults
      checks              \(figures.looks) looks at devices, \(figures.rounds) consistent points, \(figures.requests) answers
      queues              \(figures.stuck) stuck, the slowest drained \(slowest / 1_000) s after the heal
      faults              \(faults.values.reduce(0, +)): \(list(faults))
      trace               \(String(trace, radix: 16)), over every message, choice and write to a disk: the same for the same seeds
      """
  }
}
