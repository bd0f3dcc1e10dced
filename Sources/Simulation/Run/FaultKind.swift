// SPDX-License-Identifier: Apache-2.0

/// What can go wrong in a simulated world, by name. Each seed draws which of them exist in it at all; some seeds have none.
package enum FaultKind: String, CaseIterable, Sendable, Comparable {
  // What a network does to messages (FAULTS.md 2.1)
  case requestLost = "request-lost"
  case answerLost = "answer-lost"
  case requestDoubled = "request-doubled"
  case requestLate = "request-late"
  case answerSlow = "answer-slow"
  case requestCut = "request-cut"
  case answerCut = "answer-cut"
  case answerStale = "answer-stale"
  case answersSwapped = "answers-swapped"
  case serverError = "server-error"
  case portal = "captive-portal"
  case tooManyRequests = "too-many-requests"
  case tooLarge = "content-too-large"
  case unauthorized = "unauthorized"
  case unreachable = "unreachable"
  case partitionInward = "partition-inward"
  case partitionOutward = "partition-outward"
  case partitionBoth = "partition-both"
  case flapping = "flapping"
  // Processes and machines (2.2)
  case deviceKilled = "device-killed"
  case deviceKilledAtCall = "device-killed-at-call"
  case devicePaused = "device-paused"
  case deviceRunsCut = "device-runs-cut"
  case serverKilled = "server-killed"
  case serverKilledAtCall = "server-killed-at-call"
  // Disks (2.3)
  case devicePowerLoss = "device-power-loss"
  case serverPowerLoss = "server-power-loss"
  case deviceDiskError = "device-disk-error"
  case serverDiskError = "server-disk-error"
  case deviceDiskFull = "device-disk-full"
  case deviceLocked = "device-locked"
  // Clocks (2.4)
  case clockSkewed = "clock-skewed"
  case deviceClockJump = "device-clock-jump"
  // Server and shared data (2.5)
  case foreignLock = "foreign-lock"
  case foreignRollback = "foreign-rollback"
  case retention = "retention"
  case restoreAnnounced = "restore-announced"
  case tailLost = "tail-lost"
  // A device's life (2.6)
  case cloned = "device-cloned"
  case setBack = "device-set-back"
  case reinstalled = "device-reinstalled"
  // People with clients of their own
  case attack = "attack"

  /// By name.
  package static func < (left: FaultKind, right: FaultKind) -> Bool { left.rawValue < right.rawValue }

  /// Kinds that befall single messages, with their weights.
  static let ofMessages: [(FaultKind, Int)] = [
    (.requestLost, 4), (.answerLost, 6), (.requestDoubled, 3), (.requestLate, 3), (.answerSlow, 4), (.requestCut, 1),
    (.answerCut, 2), (.answerStale, 2), (.answersSwapped, 2), (.serverError, 3), (.portal, 1), (.tooManyRequests, 1),
    (.tooLarge, 1), (.unauthorized, 1), (.unreachable, 3),
  ]
}

/// How often each kind of fault happened.
package struct FaultCounts: Sendable, Equatable {
  package private(set) var counts: [FaultKind: Int] = [:]

  package init() {}

  package subscript(kind: FaultKind) -> Int { counts[kind] ?? 0 }
  package var total: Int { counts.values.reduce(0, +) }

  mutating func note(_ kind: FaultKind) { counts[kind, default: 0] += 1 }

  package mutating func add(_ other: FaultCounts) { counts.merge(other.counts, uniquingKeysWith: +) }
  package mutating func add(_ kind: FaultKind, _ count: Int) { counts[kind, default: 0] += count }
}
