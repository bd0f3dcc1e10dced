// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryModel

/// What the engine says of itself, held against what its file and the ledger say.
enum StatusOracle {
  static func check(_ device: DeviceNode, _ reading: DeviceReading) throws {
    guard let replica = device.replica else { return }
    let facts: ReplicaFacts
    // A file that cannot be read says nothing, and nothing false.
    do { facts = try replica.assumeIsolated { try $0.facts() } } catch { return }
    let pending = device.oracle.ledger.open.filter { device.oracle.ledger[$0]?.fate == .pending }.count
    try need(
      facts.pending == pending, "INV 9 the number of pending mutations is false",
      "\(device.name) \(facts.pending), \(pending) in truth")
    try need(facts.syncedAt == reading.syncedAt, "INV 9 the time of the last sync is false", "\(device.name)")
    try need(facts.isCatchingUp == reading.isLong, "INV 9 a long catch-up is not said", "\(device.name)")
    if let at = facts.syncedAt, at > device.latestClock {
      throw Broken("INV 9 synced at a time that has not come", "\(device.name) \(at)")
    }
  }
}
