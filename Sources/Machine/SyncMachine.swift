// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// When to sync, as a policy.
public struct TimingPolicy: Hashable, Sendable {
  /// How long after a finished round the next one begins, in milliseconds.
  public private(set) var interval: Int64
  /// How long to wait before a server is asked again that wants another schema or protocol, in milliseconds.
  public private(set) var refusal: Int64
  /// The waits after failures.
  public private(set) var retry: RetryPolicy
  /// The most mutations in one push.
  public private(set) var batch: Int
  /// The most items in one page.
  public private(set) var page: Int

  /// A policy. Numbers that mean nothing are brought to the nearest that do: waits lie between 0 and a year, a batch and a page
  /// hold at least 1.
  public init(
    interval: Int64 = 30_000, refusal: Int64 = 900_000, retry: RetryPolicy = RetryPolicy(), batch: Int = 100,
    page: Int = 2_000
  ) {
    let waits: ClosedRange<Int64> = 0...31_536_000_000
    self.interval = min(max(interval, waits.lowerBound), waits.upperBound)
    self.refusal = min(max(refusal, waits.lowerBound), waits.upperBound)
    self.retry = retry
    self.batch = min(max(batch, 1), Limits.batchMutations)
    self.page = min(max(page, 1), Limits.pageItems)
  }

  /// A round every 30 s and after each local write.
  public static let standard = TimingPolicy()
}

/// Decides what to do next: facts in, commands out. It holds no clock, no store and no task.
///
/// A round pushes all that is ready, then pulls until a closing page leaves nothing open; the one after a push that met no
/// judgement pulls before it pushes, so that what others did is never held back. One request is on its way at a time.
package struct SyncMachine: Sendable {
  private enum Phase: Hashable, Sendable {
    case pushing
    case pulling
    /// `isDemanded`: the server asked for the wait.
    case resting(until: Int64, isDemanded: Bool = false)
  }

  private let policy: TimingPolicy
  private var plan: PushPlan
  private var phase = Phase.resting(until: .min)
  private var failures = 0
  /// Something came up while a round was under way.
  private var isWantedAgain = false
  /// Entries that cannot be judged yet are not offered twice in one round.
  private var mayPush = true
  /// The last push met no judgement.
  private var isPushFailing = false
  /// This round pulls before it pushes.
  private var pullsFirst = false
  /// Resets and pages that no longer fitted, in a row.
  private var detours = 0
  /// Rounds in a row that left something waiting for its turn on the server.
  private var deferrals = 0
  /// Pushes of this round since the last pull.
  private var pushes = 0
  /// A page came since a push last broke the line: then it is the push that does not get through.
  private var hasPulled = false
  /// A large outbox is pulled for in between, so that what is judged can leave it.
  private static let pushesPerPull = 20
  package private(set) var condition = Condition.working

  package init(_ policy: TimingPolicy) {
    self.policy = policy
    plan = PushPlan(limit: policy.batch)
  }

  /// How many of the entries without a verdict it wants to be shown: a batch, or more while it looks for those that do not
  /// pass, so that a batch full of them does not hide the others.
  package var window: Int { plan.isCareful ? max(policy.batch, SyncMachine.carefulWindow) : policy.batch }
  private static let carefulWindow = 1_000

  /// What to do now.
  ///
  /// - Parameters:
  ///   - ready: the entries without a verdict, in order, at most as many as the window holds.
  ///   - after: the entries that one must wait for.
  package mutating func next(
    at now: Int64, ready: [MutationID], after: (MutationID) throws -> [MutationID]
  ) rethrows -> Command {
    switch phase {
    case .resting(let until, _):
      // A clock that was set back must not hold things up for longer than any wait can be.
      let longest = max(policy.interval, policy.refusal, policy.retry.retryAfterCap + policy.retry.cap)
      let isAhead = until > now + longest
      if now < until, !isAhead { return .wait(until: until) }
      begin()
      return try next(at: now, ready: ready, after: after)
    case .pushing:
      if pushes >= SyncMachine.pushesPerPull { isWantedAgain = true }
      let batch = mayPush && pushes < SyncMachine.pushesPerPull ? try plan.next(of: ready, after: after) : []
      if !batch.isEmpty {
        pushes += 1
        return .push(batch)
      }
      isPushFailing = false
      phase = .pulling
      return .pull(limit: policy.page)
    case .pulling: return .pull(limit: policy.page)
    }
  }

  private mutating func begin() {
    pullsFirst = isPushFailing
    phase = pullsFirst ? .pulling : .pushing
    mayPush = true
    pushes = 0
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
    case .syncRequested:
      isWantedAgain = true
      if case .resting(_, isDemanded: false) = phase { begin() }
    case .authenticated:
      // Only that wait ends by it: a token that is renewed in time is no reason to ask a failing server sooner.
      guard condition == .needsAuthentication else { break }
      failures = 0
      begin()
    case .sentWorkFound:
      isPushFailing = true
      if case .pushing = phase, pushes == 0 { begin() }
    case .pushJudged(let ids, let ready):
      pushAnswered()
      plan.batchJudged(ids, allReady: ready)
    case .pushDeferred:
      pushAnswered()
      mayPush = false
    case .historyChanged:
      pushAnswered()
      mayPush = false
      phase = .pulling
    case .resetTaken, .pageIgnored: noteDetour(at: now, random: random)
    case .pageEmpty:
      detours = max(detours, 2)
      noteDetour(at: now, random: random)
    case .pageTaken(let isLast):
      detours = 0
      hasPulled = true
      // A push that goes on failing is not tried more often because pulls pass.
      if !isPushFailing { failures = 0 }
      if isLast { finishRound(at: now, random: random) }
    case .failed(let answer, let offered): return fail(answer, offered, at: now, random: random)
    }
    return .none
  }

  private mutating func pushAnswered() {
    failures = 0
    isPushFailing = false
  }

  /// A refill begins with one reset, and a page may have been overtaken. More of them in a row lead nowhere: something
  /// repeats an old answer.
  private mutating func noteDetour(at now: Int64, random: UInt64) {
    detours += 1
    guard detours > 2 else { return }
    failures += 1
    condition = .failing(status: 200)
    phase = .resting(until: now + policy.retry.delay(afterFailures: detours - 2, random: random, retryAfter: nil))
  }

  private mutating func finishRound(at now: Int64, random: UInt64) {
    condition = .idle
    deferrals = mayPush ? 0 : deferrals + 1
    if pullsFirst {
      pullsFirst = false
      phase = .pushing
      pushes = 0
      condition = .working
    } else if isWantedAgain {
      begin()
    } else if deferrals > 0 {
      // Something waits for its turn on the server: soon again, but not at once, and less often as it goes on.
      let wait = policy.retry.delay(afterFailures: deferrals, random: random, retryAfter: nil)
      phase = .resting(until: now + min(wait, max(policy.interval, policy.retry.base)))
    } else {
      phase = .resting(until: now + policy.interval)
    }
  }

  private mutating func fail(
    _ answer: Answer, _ offered: [MutationID], at now: Int64, random: UInt64
  ) -> Consequence {
    var consequence = Consequence.none
    var retryAfter: Int64?
    if case .tooLarge(let isOurs) = answer, !offered.isEmpty, offered.count > 1 || isOurs {
      condition = .failing(status: 413)
      // A shorter batch at once.
      guard let id = plan.requestTooLarge(offered) else { return .none }
      return .setAside(id, "the server takes no request as long as this one")
    }
    failures += 1
    switch answer {
    case .needsAuthentication:
      // The token may have run out just now: once more with what the source gives then. After that it is for a person.
      let isFirst = condition != .needsAuthentication && failures == 1
      condition = .needsAuthentication
      let soon = policy.retry.delay(afterFailures: 1, random: random, retryAfter: nil)
      phase = .resting(until: now + (isFirst ? soon : policy.refusal))
      return .none
    case .refused(let status):
      condition = .refused(status: status)
      phase = .resting(until: now + policy.refusal)
      return .none
    case .unreachable:
      condition = .unreachable
      if hasPulled { plan.lineBroke(offered) }
      if !offered.isEmpty { hasPulled = false }
    case .tooLarge:
      // Whoever says so is no server of ours: maybe it says so to everything.
      condition = .failing(status: 413)
      if !offered.isEmpty { consequence = blame(offered, "something on the way takes no request as long as this one") }
    case .transient(let status, let wanted):
      condition = .failing(status: status)
      retryAfter = wanted
      // A server that asks for time because it has too much to do says nothing of the entries.
      let isCrowded = [429, 503].contains(status) && wanted != nil
      if !offered.isEmpty, !isCrowded { consequence = blame(offered, "the server answered \(status)") }
    case .body: preconditionFailure("a body is an answer, not a failure")
    }
    // When one kind of request does not pass, the other has its turn first.
    isPushFailing = !offered.isEmpty
    phase = .resting(
      until: now + policy.retry.delay(afterFailures: failures, random: random, retryAfter: retryAfter),
      isDemanded: retryAfter != nil)
    return consequence
  }

  /// A push met no judgement: maybe one of its entries is why.
  private mutating func blame(_ offered: [MutationID], _ text: String) -> Consequence {
    let wasAlone = plan.isCareful && offered.count == 1
    if let id = plan.batchFailed(offered) { return .setAside(id, text) }
    return wasAlone ? .noteFailure(offered, text) : .none
  }
}
