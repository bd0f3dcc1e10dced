// SPDX-License-Identifier: Apache-2.0

package import SkerryMachine
import SkerryModel
import SkerryWire

/// One device's conversation with the server: asks the machine what to do, makes requests of the store's content, and takes
/// answers into the store.
///
/// Synchronous, and owned by the executor that owns the store. Whoever drives it (the engine, a test, a simulator) carries the
/// requests and keeps the time.
package final class SyncSession {
  /// A request on its way, and what its answer is to be held against.
  package struct Exchange: Sendable {
    package let request: TransportRequest
    /// What the answer must name.
    package let name: String
    fileprivate let kind: Kind

    fileprivate enum Kind: Sendable {
      case push([MutationID])
      case pull(asked: Cursor?, when: Int)
    }

    /// Whether it offers mutations.
    package var isPush: Bool { if case .push = kind { true } else { false } }

    /// How many mutations it offers.
    package var mutations: Int { if case .push(let ids) = kind { ids.count } else { 0 } }

    /// Whether its answer is what another exchange asks for: both pull from the same cursor.
    package func serves(_ other: Exchange) -> Bool {
      guard case .pull(let asked, _) = kind, case .pull(let wanted, _) = other.kind else { return false }
      return asked == wanted
    }
  }

  /// What came back for an exchange, read but not taken in.
  package struct Incoming: Sendable {
    fileprivate let exchange: Exchange
    fileprivate let content: Content

    fileprivate enum Content: Sendable {
      case failure(Answer)
      case verdicts([Verdict], offered: [MutationID])
      case answer(PullAnswer, asked: Cursor?, when: Int)
      /// Bytes that are no answer of ours, or one to another request, say nothing about the mutations: they are offered again.
      case undecodable
    }
  }

  package enum Step: Sendable {
    case exchange(Exchange)
    /// Nothing to do before this time, or before something happens.
    case wait(until: Int64?)
  }

  /// What the operations of one push take together at most, so that a phone never holds a large outbox in memory.
  private static let pushBytes = 1 << 20

  private let store: Store
  private let codec: JSONCodec
  private let ambient: any Ambient
  private let page: Int
  private var machine: SyncMachine
  private var isFresh = true
  /// What the session did since it began.
  package private(set) var totals = SyncReport()

  package init(_ store: Store, policy: TimingPolicy) {
    self.store = store
    ambient = store.ambient
    page = policy.page
    codec = JSONCodec(catalog: store.catalog)
    machine = SyncMachine(policy)
  }

  /// What holds things up.
  package var condition: SyncMachine.Condition { machine.condition }

  /// Takes in a fact that came from outside: a local write, a wish, a renewed token.
  package func note(_ fact: SyncMachine.Fact) {
    _ = machine.take(fact, at: ambient.now(), random: ambient.random())
  }

  /// What to do now.
  package func next() throws -> Step {
    if isFresh, try store.holdsSentWork() { note(.sentWorkFound) }
    isFresh = false
    let ready = try store.ready(limit: machine.window, bytes: SyncSession.pushBytes)
    switch try machine.next(at: ambient.now(), ready: ready, after: store.predecessors(of:)) {
    case .wait(let time): return .wait(until: time)
    case .push(let ids): return .exchange(try push(ids))
    case .pull(let limit): return .exchange(try pull(limit))
    }
  }

  private func push(_ ids: [MutationID]) throws -> Exchange {
    let mutations = try store.offer(ids)
    var request = PushRequest(
      schema: SchemaStamp(store.catalog.schema), replica: store.replicaID, cursor: store.cursor,
      settled: try store.settledMark(), mutations: mutations)
    request.request = makeName()
    return Exchange(
      request: TransportRequest(path: "/v1/push", contentType: "application/json", body: codec.encode(request)),
      name: request.request, kind: .push(ids))
  }

  private func pull(_ limit: Int) throws -> Exchange { try pull(after: store.cursor, limit) }

  private func pull(after cursor: Cursor?, _ limit: Int) throws -> Exchange {
    var request = PullRequest(
      schema: SchemaStamp(store.catalog.schema), replicas: store.replicaIDs, cursor: cursor,
      settled: try store.settledMark(), limit: limit)
    request.request = makeName()
    return Exchange(
      request: TransportRequest(path: "/v1/pull", contentType: "application/json", body: codec.encode(request)),
      name: request.request, kind: .pull(asked: cursor, when: store.clock))
  }

  private func makeName() -> String { String(ambient.random(), radix: 36) }

  /// Takes in what came back. An answer that comes late, or twice, is held against what the store holds now.
  ///
  /// - Returns: what it changed in the store.
  @discardableResult
  package func take(_ result: Result<TransportResponse, TransportError>, for exchange: Exchange) throws -> PageEffect {
    try take(open(result, for: exchange))
  }

  /// Reads what came back.
  package func open(_ result: Result<TransportResponse, TransportError>, for exchange: Exchange) -> Incoming {
    let answer =
      switch result {
      case .success(let response): Answer(response)
      case .failure(let error): Answer(error)
      }
    guard case .body(let bytes) = answer else { return Incoming(exchange: exchange, content: .failure(answer)) }
    let content: Incoming.Content?
    switch exchange.kind {
    case .push(let ids):
      let answer = try? codec.decodePushAnswer(bytes)
      content = answer.flatMap { $0.request == exchange.name ? .verdicts($0.verdicts, offered: ids) : nil }
    case .pull(let asked, let when):
      let answer = try? codec.readPullAnswer(bytes)
      content = answer.flatMap { $0.request == exchange.name ? .answer($0.answer, asked: asked, when: when) : nil }
    }
    return Incoming(exchange: exchange, content: content ?? .undecodable)
  }

  /// The pull that comes after a page, so that the next page can be on its way while this one is taken in; nil if it is the
  /// last of its round, or will not be taken in.
  package func following(_ incoming: Incoming) throws -> Exchange? {
    guard case .answer(.page(let next), let asked, _) = incoming.content, asked == store.cursor, !next.items.isEmpty,
      !next.closes || !next.cursor.isWhole
    else { return nil }
    return try pull(after: next.cursor, page)
  }

  /// Takes in what was read.
  ///
  /// - Returns: what it changed in the store.
  package func take(_ incoming: Incoming) throws -> PageEffect {
    switch incoming.content {
    case .failure(let answer): try fail(answer, incoming.exchange)
    case .verdicts(let verdicts, let offered): try take(verdicts, offered: offered)
    case .answer(let answer, let asked, let when): return try take(answer, asked: asked, when: when)
    case .undecodable:
      totals.undecodable += 1
      try fail(.transient(status: 200, retryAfter: nil), incoming.exchange)
    }
    return PageEffect()
  }

  private func take(_ verdicts: [Verdict], offered: [MutationID]) throws {
    let ready = try store.ready(limit: machine.window).count
    try store.take(verdicts)
    // An answer that tells of other mutations than were offered belongs to another request: it judges none of these.
    var judged: Set<MutationID> = []
    for verdict in verdicts {
      switch verdict {
      case .settled(let id, _): judged.insert(id)
      case .otherHistory: note(.historyChanged)
      case .forbidden:
        note(.failed(.refused(status: 403), offered: []))
        return
      // With `identityReused` the device has a new replica id now, and offers everything under it, but not in a tight loop.
      case .notYet, .busy, .identityReused: break
      }
    }
    let passed = offered.filter(judged.contains)
    totals.pushed += passed.count
    if !passed.isEmpty { note(.pushJudged(passed, ready: ready)) }
    if passed.count < offered.count { note(.pushDeferred) }
  }

  private func take(_ answer: PullAnswer, asked: Cursor?, when: Int) throws -> PageEffect {
    let effect: PageEffect
    switch answer {
    case .reset(let reset):
      effect = try store.apply(reset, asked: asked)
      note(effect.isApplied ? .resetTaken : .pageIgnored)
    case .page(let page):
      effect = try store.apply(page, asked: asked, when: when)
      if effect.hasFreedEntries { note(.syncWanted) }
      let (next, last) = (page.cursor, asked)
      let isFurther = next.position != last?.position || next.again != last?.again || next.open != last?.open
      let isEmpty = page.items.isEmpty && !isFurther && !effect.isConsistent
      note(!effect.isApplied ? .pageIgnored : isEmpty ? .pageEmpty : .pageTaken(isLast: effect.isConsistent))
      if effect.isApplied { totals.pulled += page.items.count }
    }
    totals.settled += effect.settled.count
    if effect.isConsistent { totals.rounds += 1 }
    totals.isConsistent = effect.isConsistent
    return effect
  }

  private func fail(_ answer: Answer, _ exchange: Exchange) throws {
    var offered: [MutationID] = []
    if case .push(let ids) = exchange.kind { offered = ids }
    totals.failures += 1
    totals.isConsistent = false
    let consequence = machine.take(
      .failed(answer, offered: offered), at: ambient.now(), random: ambient.random())
    switch consequence {
    case .none: break
    case .noteFailure(let ids, let text): for id in ids { try store.noteFailure(id, text) }
    case .setAside(let id, let text):
      try store.noteFailure(id, text)
      try store.setAside(id)
    }
  }
}

/// What syncing did.
public struct SyncReport: Sendable, Equatable {
  /// Mutations that the server judged.
  public internal(set) var pushed = 0
  /// Items of pages that were taken in.
  public internal(set) var pulled = 0
  /// Mutations whose outcome is published here.
  public internal(set) var settled = 0
  /// Pulls that ended at a consistent point.
  public internal(set) var rounds = 0
  /// Exchanges that failed.
  public internal(set) var failures = 0
  /// Answers that were no answer of a Skerry server, such as a captive portal's page.
  public internal(set) var undecodable = 0
  /// Whether the last exchange was a page that ended at a consistent point: the replica is as the server was then.
  public internal(set) var isConsistent = false

  package init() {}

  package mutating func subtract(_ earlier: SyncReport) {
    pushed -= earlier.pushed
    pulled -= earlier.pulled
    settled -= earlier.settled
    failures -= earlier.failures
    undecodable -= earlier.undecodable
    rounds -= earlier.rounds
    // What was reached before is no news of this call.
    isConsistent = isConsistent && rounds > 0
  }
}
