// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryModel

/// What a device's listeners must have heard: whatever syncing changed on the screen and in the queues is told.
struct NewsOracle {
  private var tables: Set<String> = []
  private var settled: Set<MutationID> = []
  private var lost: Set<SpaceID> = []
  private var isConsistent = false
  private var isFalsePoint = false

  /// The file has changed.
  ///
  /// - Parameter isLocal: by what a person did on the device, which it tells nobody.
  mutating func changed(from old: DeviceReading?, to new: DeviceReading, isLocal: Bool) {
    guard let old, !isLocal else { return }
    for (key, row) in new.screen where old.screen[key] != row { tables.insert(key.table) }
    for key in old.screen.keys where new.screen[key] == nil { tables.insert(key.table) }
    let pending = Set(new.outbox.map(\.id))
    settled.formUnion(old.outbox.lazy.map(\.id).filter { !pending.contains($0) })
    lost.formUnion(new.lost.subtracting(old.lost))
    if new.syncedAt != old.syncedAt { isConsistent = true }
  }

  mutating func heard(_ event: ReplicaEvent) {
    switch event {
    case .changed(let names): tables.subtract(names)
    case .settled(let ids): settled.subtract(ids)
    case .accessLost(let space): lost.remove(space)
    case .consistent:
      isFalsePoint = isFalsePoint || !isConsistent
      isConsistent = false
    case .digestMismatch, .unreadable, .dropsRefused, .dropsFailed: break
    }
  }

  /// Everything that was sent has been heard: nothing may be left.
  func check(_ name: String) throws {
    try need(tables.isEmpty, "INV 9 rows changed and nobody was told", "\(name) \(tables.sorted())")
    try need(settled.isEmpty, "INV 9 a mutation has its outcome and nobody was told", "\(name) \(settled)")
    try need(lost.isEmpty, "INV 9 access was lost and nobody was told", "\(name) \(lost)")
    try need(!isFalsePoint, "INV 9 told that it is as the server was, and it is not", name)
    try need(!isConsistent, "INV 9 it is as the server was and nobody was told", name)
  }
}
