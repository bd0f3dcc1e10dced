// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

/// Four writers, two of three devices that write too, and pulls between all their steps: no state that a device publishes
/// holds half a transaction or a row that its account cannot see, and nothing is skipped for good.
@Suite struct InterleavingTests {
  /// Ten thousand transactions of other programs in all, by seeds that have found a fault before; a soak tries a hundred.
  static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["SKERRY_SOAK"] == nil ? [6, 14, 26, 36, 99] : Array(1...100)
  static let transactions = 2_000

  @Test(arguments: seeds)
  func `what was committed together is seen together, what is not one's own is never seen, and all end up equal`(
    _ seed: UInt64
  ) throws {
    let world = try Interleaving(seed: seed)
    try world.run(InterleavingTests.transactions)
    let scan = FullScan(world.scan)
    #expect(try scan.all() == FullScan.rows(world.log), "the server does not hold what was committed, seed \(seed)")
    for (index, device) in world.devices.enumerated() {
      let user = Place.users[device.user]
      #expect(device.watcher.faults.isEmpty, "device \(index), seed \(seed)")
      #expect(try device.store.withConnection(FullScan.rows) == scan.scope(of: user), "device \(index), seed \(seed)")
      #expect(device.store.digestMismatches == 0, "device \(index), seed \(seed)")
      let sight = world.log.sight(device.user, at: world.log.commits)
      for bits in SpaceBits.single {
        let space = SpaceID(bits.name ?? "")
        let expected = sight.contains(bits) ? try world.server.digest(of: space) : SpaceDigest()
        #expect(try FullScan.digest(of: space, device.store) ?? SpaceDigest() == expected, "\(space), seed \(seed)")
      }
    }
    checkCoverage(world)
  }

  /// A run in which nothing of interest happened would prove nothing.
  private func checkCoverage(_ world: Interleaving) {
    let count = world.count
    #expect(count.transactions == InterleavingTests.transactions)
    #expect(count.rolledBack > 100 && count.lockedOut > 200)
    #expect(count.pulls > 250 && count.besideWriter > 60 && count.cut > 120)
    #expect(count.confirmed > 5 && count.refused > 10)
    #expect(count.gains > 5 && count.losses > 2 && count.leaves > 500)
    #expect(world.devices.allSatisfy { $0.watcher.points > 10 && $0.watcher.states > 40 })
  }

  @Test func `the same seed gives the same run`() throws {
    let runs = try (0..<2).map { _ in
      let world = try Interleaving(seed: 42)
      try world.run(150)
      return (FullScan.rows(world.log), world.count.pulls, world.devices.map { $0.watcher.states })
    }
    #expect(runs[0] == runs[1])
  }

  /// Each oracle must be able to fail: what it is for is done on purpose.
  @Test(
    arguments: [
      (.publishedAtOnce, [.half]), (.leavesLost, [.foreign]), (.lossesLost, [.foreign]),
      (.changesLost, [.inexact, .half, .books]), (.readFreely, [.ahead]),
    ] as [(Interleaving.Sabotage, [Watcher.Fault])])
  func `a wrong device is noticed`(_ sabotage: Interleaving.Sabotage, _ faults: [Watcher.Fault]) throws {
    let world = try Interleaving(seed: 7, sabotage: sabotage)
    try world.run(260)
    for fault in faults {
      #expect(world.devices.contains { $0.watcher.faults[fault] != nil }, "\(fault) was not noticed")
    }
  }
}
