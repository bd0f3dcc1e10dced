// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit
import Synchronization

/// Runs seeds in several processes: SQLite's randomness is one for a process, so each simulation needs one of its own; and a
/// process that ends in the middle of a seed takes no other with it.
struct SeedWorkers {
  private let options: SimulateOptions

  init(_ options: SimulateOptions) { self.options = options }

  /// Calls a closure with the report of each seed, one at a time, in the order in which they come.
  func run(_ report: (SeedReport) -> Void) throws {
    let reports = Queue()
    for number in 0..<options.jobs {
      let options = options
      let thread = Thread {
        SeedWorkers.drive(number, options, reports)
        reports.put(nil)
      }
      thread.stackSize = 1 << 20
      thread.start()
    }
    var running = options.jobs
    while running > 0 {
      guard let next = reports.take() else {
        running -= 1
        continue
      }
      report(next)
      if next.check != nil, !options.keepsGoing { reports.stop() }
    }
  }

  /// One worker's share: every so-many-th seed. A process that ends early is replaced, beginning after the seed it died of.
  private static func drive(_ number: Int, _ options: SimulateOptions, _ reports: Queue) {
    var seeds = Array(options.range.enumerated().filter { $0.offset % options.jobs == number }.map(\.element))[...]
    while let first = seeds.first, !reports.isStopped {
      guard let child = try? ChildProcess(options.share(number, from: first, count: seeds.count)) else {
        return reports.put(SeedReport(crashed: first))
      }
      while let seed = seeds.first, !reports.isStopped {
        guard let line = try? child.line(),
          let report = try? JSONDecoder().decode(SeedReport.self, from: Data(line.utf8)), report.seed == seed
        else {
          reports.put(SeedReport(crashed: seed))
          seeds.removeFirst()
          break
        }
        reports.put(report)
        seeds.removeFirst()
      }
      child.kill()
    }
  }

  /// Hands reports from the workers' threads to one reader. Nil is the end of a worker.
  private final class Queue: Sendable {
    private let items = Mutex<(reports: [SeedReport?], isStopped: Bool)>(([], false))
    private let count = DispatchSemaphore(value: 0)

    func put(_ report: SeedReport?) {
      items.withLock { $0.reports.append(report) }
      count.signal()
    }

    func take() -> SeedReport? {
      count.wait()
      return items.withLock { $0.reports.removeFirst() }
    }

    func stop() { items.withLock { $0.isStopped = true } }
    var isStopped: Bool { items.withLock { $0.isStopped } }
  }
}

/// Seconds since it was made.
struct SimulateClock {
  private let start = SystemAmbient.monotonicNanoseconds()
  var seconds: Double { Double(SystemAmbient.monotonicNanoseconds() - start) / 1e9 }
}
