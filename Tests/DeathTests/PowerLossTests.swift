// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Device and server lose power over and over again, and keep what they have promised.
@Suite struct PowerLossTests {
  private static let isSoak = ProcessInfo.processInfo.environment["SKERRY_SOAK"] != nil

  /// 1,000 cycles in the ordinary run, 100,000 with `make soak`, in two halves side by side.
  @Test(arguments: [1, 2] as [UInt64])
  func `F-D04 what was acknowledged is there after each power loss, and files are whole`(_ seed: UInt64) throws {
    var cycles = try PowerLossCycles(seed: seed)
    let clock = ContinuousClock()
    let start = clock.now
    let figures = cycles.run(PowerLossTests.isSoak ? 50_000 : 500)
    print("PowerLossTests, seed \(seed), \(clock.now - start): \(figures)")
    #expect(figures.faults.prefix(5) == [])
    #expect(figures.lost == 0 && figures.torn == 0)
    #expect(
      figures.acknowledged > figures.cycles / 2 && figures.droppedWrites > 200 && figures.tornWrites > 50, "\(figures)")
  }

  @Test func `F-D04 with a store that does not sync, the same cycles find losses`() throws {
    var cycles = try PowerLossCycles(seed: 3, synchronous: "OFF")
    let figures = cycles.run(60)
    #expect(figures.lost > 0, "\(figures)")
  }
}
