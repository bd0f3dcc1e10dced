// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryDiskKit
import Testing

/// A process dies, its machine loses power, or its disk fails, at the n-th call on the disk.
///
/// In the ordinary run death and two power losses take turns at some eighteen calls of each script, and each error meets some;
/// `make soak` has every fault at every call.
@Suite struct DiskSweepTests {
  private static let isSoak = ProcessInfo.processInfo.environment["SKERRY_SOAK"] != nil

  /// Extended codes, and at every how manyth call each comes in the ordinary run: full, write, sync, read, truncation, deletion,
  /// opening, lock, lock and region of shared memory, busy, I/O in general.
  private static let errors: [(code: Int32, stride: Int)] = [
    (13, 41), (778, 43), (1_034, 4), (266, 47), (1_546, 2), (2_570, 1), (14, 3), (3_850, 2), (5_130, 23), (5_386, 3),
    (5, 29), (10, 83),
  ]

  private func sweepDeaths(_ script: Script) throws {
    let sweep = try DiskSweep(script)
    let kinds: [DiskSweep.Fault] = [.death] + (0..<(DiskSweepTests.isSoak ? 8 : 2)).map { .powerLoss($0) }
    for (index, kind) in kinds.enumerated() {
      if DiskSweepTests.isSoak {
        try sweep.run(kind)
      } else {
        let stride = max(2, sweep.calls(for: kind) / 18)
        try sweep.run(kind, from: index * stride + 1, every: stride * kinds.count)
      }
    }
    #expect(sweep.faults.list == [])
    #expect(sweep.runs > 0)
  }

  private func sweepErrors(_ script: Script) throws {
    let sweep = try DiskSweep(script, thoroughness: DiskSweepTests.isSoak ? 1 : 17)
    for (index, (code, stride)) in DiskSweepTests.errors.enumerated() {
      if DiskSweepTests.isSoak {
        for isLasting in [false, true] { try sweep.run(.error(code, isLasting: isLasting)) }
      } else {
        // Some scripts meet it once, the others to the end.
        let isLasting = (index + script.name.utf8.count) % 2 == 0
        try sweep.run(.error(code, isLasting: isLasting), from: 1 + index % stride, every: stride)
      }
    }
    #expect(sweep.faults.list == [])
    #expect(sweep.runs > 3)
  }

  // MARK: Devices

  @Test(arguments: Script.writes + Script.pages)
  func `F-P01 F-P02 F-P03 F-P04 F-P05 F-D04 wherever a device dies or loses power, nothing is half`(
    _ script: Script
  ) throws { try sweepDeaths(script) }

  @Test(arguments: Script.writes + Script.pages)
  func `F-D01 F-D02 F-D03 wherever a device's disk fails, file and memory agree, and all goes on`(
    _ script: Script
  ) throws { try sweepErrors(script) }

  // MARK: Servers

  @Test(arguments: Script.servers)
  func `F-P08 F-P09 F-D04 wherever a server dies or loses power, nothing is half`(
    _ script: Script
  ) throws { try sweepDeaths(script) }

  @Test(arguments: Script.servers)
  func `F-D01 F-D02 F-D03 wherever a server's disk fails, its file is whole, and all goes on`(
    _ script: Script
  ) throws { try sweepErrors(script) }
}
