// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

@Suite struct PropertyTests {
  /// 50 in the ordinary run, 2,000 with `make soak`.
  static let seeds: [UInt64] = Array(1...(ProcessInfo.processInfo.environment["SKERRY_SOAK"] == nil ? 50 : 2_000))

  @Test(arguments: seeds)
  func `a random history of two to four replicas converges to what the rule says, with equal digests`(
    _ seed: UInt64
  ) throws {
    let history = try RandomHistory(seed: seed)
    try history.run(steps: 150)
    try history.heal()
    let world = history.world
    let expected = history.reference.described
    #expect(try Reference.read(world.foreign, world.catalog) == expected, "server, seed \(seed)")
    for (name, device) in world.devices.sorted(by: { $0.key < $1.key }) {
      #expect(try device.store.outboxCount() == 0, "\(name) still waits, seed \(seed)")
      let screen = try device.store.withConnection { try Reference.read($0, world.catalog) }
      #expect(screen == history.reference.scope(of: device.user.text), "\(name), seed \(seed)")
      #expect(device.store.digestMismatches == 0, "\(name), seed \(seed)")
      try PropertyTests.recount(device, world, seed)
    }
  }

  /// The digests that the device keeps, against those of the server, which are told for the user's own spaces.
  private static func recount(_ device: WorldDevice, _ world: World, _ seed: UInt64) throws {
    for (space, digest) in try device.store.digests() where digest.rows > 0 {
      #expect(try world.server.digest(of: space) == digest, "\(device.name), \(space), seed \(seed)")
    }
  }

  @Test func `every kind of fault happens, and refusals do too`() throws {
    var faults: [String: Int] = [:]
    var refusals = 0
    for seed in PropertyTests.seeds.prefix(12) {
      let history = try RandomHistory(seed: seed)
      try history.run(steps: 150)
      try history.heal()
      faults.merge(history.faults) { $0 + $1 }
      refusals += try history.world.devices.values.reduce(0) { try $0 + $1.store.rejections().count }
    }
    let kinds = ["request lost", "answer lost", "answer late", "doubled", "server died", "device died"]
    for kind in kinds { #expect(faults[kind, default: 0] > 5, "\(kind): \(faults)") }
    #expect(refusals > 5)
  }

  @Test func `an expectation that is wrong by one increment is noticed`() throws {
    let history = try RandomHistory(seed: 1)
    try history.run(steps: 150)
    try history.heal()
    let key = try history.world.foreign.first("SELECT id FROM item ORDER BY id") { $0.text(0) }
    try history.world.foreign.run("UPDATE item SET n = n + 1 WHERE id = ?", .text(try #require(key)))
    #expect(try Reference.read(history.world.foreign, history.world.catalog) != history.reference.described)
  }
}
