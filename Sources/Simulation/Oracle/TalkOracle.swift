// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import SkerryModel

/// How one process of a device talks: when it asks, what it hears, and what it may conclude from it.
struct TalkOracle {
  /// What came back for a request, by the oracle's own reading.
  enum Outcome: Equatable {
    /// An answer of ours, to this request; `reset` is the cursor of one.
    case answered(settled: [MutationID] = [], isQuiet: Bool = false, reset: Cursor? = nil)
    case nobody
    case transient(status: Int, retryAfter: Int64?)
    case unauthorized
    case refused(status: Int)
    case tooLarge
    /// Nobody waited for it any more.
    case cancelled
  }

  private let policy: TimingPolicy
  private let name: String
  private(set) var sent = 0
  private var inFlight = 0
  private var last: Outcome?
  /// Failures in a row since a person last had a say, and the time of the first.
  private var failures = 0
  private var firstFailure: Int64 = 0
  /// What the server asked for.
  private var earliest = Int64.min
  /// Rounds in a row that found and left nothing to do, and the end of the last.
  private var quietRounds = 0
  private var quietSince: Int64 = 0
  /// Enough for a sixth of the expected sum to be out of the reach of chance.
  private static let many = 24
  private var aloneFailures: [MutationID: Int] = [:]
  private var tooLong: Set<MutationID> = []
  private var hasPassedSince = false

  init(_ policy: TimingPolicy, _ name: String) {
    self.policy = policy
    self.name = name
  }

  /// A person or the system did something on the device: what it says and when it asks may change by that.
  mutating func acted(isWish: Bool = false, isClock: Bool = false) {
    quietRounds = 0
    last = nil
    if isWish { failures = 0 }
    if isClock { (failures, earliest) = (0, .min) }
  }

  // MARK: When it asks

  mutating func sends(at now: Int64) throws {
    inFlight += 1
    sent += 1
    try need(
      now >= earliest, "F-N11 asks before the time that the server asked for", "\(name) \(earliest - now) ms too soon")
    guard quietRounds >= 2 else { return }
    try need(
      now >= quietSince + policy.interval, "F-C02 asks again and again with nothing to ask",
      "\(name) \(now - quietSince) ms after a round, of \(policy.interval)")
  }

  mutating func hears(_ outcome: Outcome, offered: [MutationID], at now: Int64) throws {
    inFlight -= 1
    if outcome == .cancelled { return }
    last = outcome
    let isAlone = offered.count == 1
    switch outcome {
    case .answered(let settled, let isQuiet, _):
      failures = 0
      if !settled.isEmpty, !aloneFailures.isEmpty { hasPassedSince = true }
      quietRounds = isQuiet ? quietRounds + 1 : 0
      quietSince = now
      return
    case .tooLarge:
      if isAlone { tooLong.formUnion(offered) }
    case .transient(let status, let wanted):
      let isCrowded = [429, 503].contains(status) && wanted != nil
      if isAlone, !isCrowded { aloneFailures[offered[0], default: 0] += 1 }
      if let wanted, wanted > 0 { earliest = now + min(wanted, policy.retry.retryAfterCap) }
      try fail(at: now)
    case .nobody: try fail(at: now)
    // Their waits do not grow: a person has to do something.
    case .unauthorized, .refused, .cancelled: break
    }
    quietRounds = 0
  }

  /// Waits after failures are drawn, so only many of them together say whether they grow.
  private mutating func fail(at now: Int64) throws {
    failures += 1
    if failures == 1 { firstFailure = now }
    guard failures == TalkOracle.many else { return }
    let bounds = (0..<TalkOracle.many - 1).map { min(policy.retry.cap, policy.retry.base << Int64($0)) }
    let expected = bounds.reduce(0, +) / 2
    try need(
      now - firstFailure >= expected / 6, "F-N22 asks a failing server too often",
      "\(name) \(TalkOracle.many) times in \(now - firstFailure) ms, about \(expected) ms expected")
    failures = 0
  }

  // MARK: What it concludes

  /// An entry may be set aside if it is too long alone, or failed alone often enough while others passed.
  func maySetAside(_ id: MutationID) -> Bool {
    tooLong.contains(id) || hasPassedSince && aloneFailures[id, default: 0] >= PushPlan.patience
  }

  /// Whether what the engine says of itself at rest follows from what it heard last.
  func check(_ condition: SyncMachine.Condition, isConsistent: Bool) throws {
    guard inFlight == 0, let last else { return }
    let isRight: Bool
    switch last {
    case .answered: isRight = [.idle, .working, .failing(status: 200)].contains(condition)
    case .nobody: isRight = condition == .unreachable
    case .transient(let status, _): isRight = condition == .failing(status: status)
    case .refused(let status): isRight = condition == .refused(status: status)
    case .unauthorized: isRight = condition == .needsAuthentication
    case .tooLarge, .cancelled: return
    }
    try need(isRight, "INV 9 the condition is not what was heard", "\(name) \(condition) after \(last)")
    if case .answered = last { return }
    try need(!isConsistent, "INV 9 reports a consistent point after a failure", "\(name) \(last)")
  }
}
