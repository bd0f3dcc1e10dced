// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryCommands
import Testing

/// Real processes, killed under load.
///
/// A seed decides what is written, who dies, and after how many acknowledged orders or at which point. What the processes were
/// at then is the system's scheduling: the same seed gives the same kind of run, and never the same run. So a failure keeps its
/// files, with the ledger of everything that was promised and of every death.
@Suite(.serialized) struct KillTests {
  private static let isSoak = ProcessInfo.processInfo.environment["SKERRY_SOAK"] != nil

  /// 12 deaths at random and 2 at each point in the ordinary run, 90 and 12 with `make soak`.
  @Test(.timeLimit(.minutes(30)))
  func `F-P01 F-P02 F-P03 F-P08 everything acknowledged is there exactly once, whoever was killed, at whatever moment`()
    async throws
  {
    let seed: UInt64 = KillTests.isSoak ? 2 : 1
    let plan = Kill.plan(
      random: KillTests.isSoak ? 90 : 12, atEachPoint: KillTests.isSoak ? 12 : 2, seed: seed)
    let run = try KillRun(plan, seed: seed)
    let (faults, figures) = try await run.run()
    print("KillTests, seed \(seed): \(figures)")
    #expect(faults.isEmpty, "\(faults.count) faults; \(run.description)\n\(faults.prefix(40).joined(separator: "\n"))")
    if faults.isEmpty { try run.removeFiles() }
  }

  @Test(.timeLimit(.minutes(5)))
  func `a point that is never reached ends the run with a fault`() async throws {
    let plan = [Kill(victim: .server, moment: .armed(.push, 1_000_000))]
    let run = try KillRun(plan, seed: 3, patience: 60)
    let (faults, figures) = try await run.run()
    #expect(faults.count == 1 && faults[0].contains("was not reached in 60 orders"), "\(faults)")
    #expect(figures.kills.isEmpty)
    try run.removeFiles()
  }
}
