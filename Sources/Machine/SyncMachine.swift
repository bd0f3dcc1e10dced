// SPDX-License-Identifier: Apache-2.0
package import SkerryModel

/// When to sync, as a policy.
public struct TimingPolicy: Hashable, Sendable {
  /// How long after a finished round the next one begins, in milliseconds.
  public var interval: Int64
  /// How long to wait before a server is asked again that wants another schema or protocol, in milliseconds.
  public var refusal: Int64
  /// The waits after failures.
  public var retry: RetryPolicy
  /// The most mutations in one push.
  public var batch: Int
  /// The most items in one page.
  public var page: Int

  /// A policy.
  public init(
    interval: Int64 = 30_000, refusal: Int64 = 900_000, retry: RetryPolicy = RetryPolicy(), batch: Int = 100,
    page: Int = 500
  ) {
    self.interval = interval
    self.refusal = refusal
    self.retry = retry
    self.batch = batch
    self.page = page
  }

  /// A round every 30 s and after each local write.
  public static let standard = TimingPolicy()
}

/// Decides what to do next: facts in, commands out. It holds no clock, no store and no task.
///
/// A round pushes all that is ready, then pulls until a closing page leaves nothing open. One request is on its way at a time.
package struct SyncMachine: Sendable {
  /// What has happened.
  package enum Fact: Hashable, Sendable {
    /// The app wrote, or a person asked, or a timer fired, or a hint came.
    case syncWanted
    /// The server judged these entries; `ready` tells how many entries were ready in all.
    case pushJudged([MutationID], ready: Int)
    /// The push names a history that the server does not know.
    case historyChanged
    /// The push was answered, and entries must wait for others or for the database.
    case pushDeferred
    /// A page was taken in; nothing is left to fetch if it was the last.
    case pageTaken(isLast: Bool)
    /// A page or reset no longer fitted the store, which had moved on.
    case pageIgnored
    case resetTaken
    case failed(Answer, offered: [MutationID])
    /// The token was renewed, or the person signed in again.
    case authenticated
  }

  /// What is to be done.
  package enum Command: Hashable, Sendable {
    case push([MutationID])
    case pull(limit: Int)
    /// Until this time, or until the next fact; nil: until the next fact.
    case wait(until: Int64?)
  }

  /// What is to be done to an entry beside the next command.
  package enum Consequence: Hashable, Sendable {
    case none
    case noteFailure([MutationID], String)
    case setAside(MutationID, String)
  }

  /// What holds things up, for the status.
  package enum Condition: Hashable, Sendable {
    case working
    case idle
    case unreachable
    case failing(status: Int)
    case needsAuthentication
    case refused(status: Int)
  }

  private enum Phase: Hashable, Sendable {
    case pushing
    case pulling
    case resting(until: Int64)
    /// Nothing goes on before somebody acts.
    case stopped
  }

  private let policy: TimingPolicy
  private var plan: PushPlan
  private var phase = Phase.resting(until: .min)
  private var failures = 0
  /// Something came up while a round was under way.
  private var isWantedAgain = false
  /// Entries that cannot be judged yet are not offered twice in one round.
  private var mayPush = true
  package private(set) var condition = Condition.working

  package init(_ policy: TimingPolicy) {
    self.policy = policy
    plan = PushPlan(limit: policy.batch)
  }

  /// What to do now. `ready` are the entries without a verdict, in order, at most as many as a batch holds.
  package mutating func next(at now: Int64, ready: [MutationID]) -> Command {
    switch phase {
    case .stopped: return .wait(until: nil)
    case .resting(let until):
      // A clock that was set back must not hold things up for longer than any wait can be.
      let longest = max(policy.interval, policy.refusal, policy.retry.retryAfterCap + policy.retry.cap)
      let isAhead = until > now + longest
      if now < until, !isAhead { return .wait(until: until) }
      begin()
      return next(at: now, ready: ready)
    case .pushing:
      let batch = mayPush ? plan.next(of: ready) : []
      if !batch.isEmpty { return .push(batch) }
      phase = .pulling
      return .pull(limit: policy.page)
    case .pulling: return .pull(limit: policy.page)
    }
  }

  private mutating func begin() {
    phase = .pushing
    mayPush = true
    isWantedAgain = false
    condition = .working
  }

  /// Takes in a fact.
  ///
  /// - Parameter random: sixty-four random bits for the jitter.
  package mutating func take(_ fact: Fact, at now: Int64, random: UInt64) -> Consequence {
    switch fact {
    case .syncWanted:
      isWantedAgain = true
      // A failing server is not asked more often because somebody writes; Retry-After is kept.
      if case .resting = phase, failures == 0 { begin() }
    case .authenticated:
      failures = 0
      if case .stopped = phase { begin() }
    case .pushJudged(let ids, let ready):
      failures = 0
      plan.batchJudged(ids, allReady: ready)
    case .pushDeferred: mayPush = false
    case .historyChanged:
      mayPush = false
      phase = .pulling
    case .resetTaken, .pageIgnored: failures = 0
    case .pageTaken(let isLast):
      failures = 0
      if isLast { finishRound(at: now, random: random) }
    case .failed(let answer, let offered): return fail(answer, offered, at: now, random: random)
    }
    return .none
  }

  private mutating func finishRound(at now: Int64, random: UInt64) {
    if isWantedAgain {
      begin()
    } else if !mayPush {
      // Something waits for its turn on the server: soon again, but not at once.
      phase = .resting(until: now + policy.retry.delay(afterFailures: 1, random: random, retryAfter: nil))
    } else {
      phase = .resting(until: now + policy.interval)
    }
    condition = .idle
  }

  private mutating func fail(
    _ answer: Answer, _ offered: [MutationID], at now: Int64, random: UInt64
  ) -> Consequence {
    failures += 1
    var consequence = Consequence.none
    var retryAfter: Int64?
    switch answer {
    case .unreachable: condition = .unreachable
    case .needsAuthentication:
      condition = .needsAuthentication
      phase = .stopped
      return .none
    case .refused(let status):
      condition = .refused(status: status)
      phase = .resting(until: now + policy.refusal)
      return .none
    case .tooLarge:
      condition = .failing(status: 413)
      if let id = plan.requestTooLarge(offered) {
        return .setAside(id, "the server takes no request as long as this one")
      }
      return .none  // a shorter batch at once
    case .transient(let status, let wanted):
      condition = .failing(status: status)
      retryAfter = wanted
      if !offered.isEmpty {
        let wasSingle = plan.isSingle
        let text = "the server answered \(status)"
        if let id = plan.batchFailed(offered) {
          consequence = .setAside(id, text)
        } else if wasSingle {
          consequence = .noteFailure(offered, text)
        }
      }
    case .body: preconditionFailure("a body is an answer, not a failure")
    }
    phase = .resting(
      until: now + policy.retry.delay(afterFailures: failures, random: random, retryAfter: retryAfter))
    return consequence
  }
}
