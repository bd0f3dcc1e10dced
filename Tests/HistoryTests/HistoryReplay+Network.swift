// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryWire

/// Requests, answers, and what the server does with both.
extension HistoryReplay {
  func offer(_ device: String, _ offered: [(mutation: Int, after: [Int])]) throws {
    let store = try store(device)
    let mutations = try store.offer(offered.map { names.mutations[$0.mutation] })
    try require(mutations.map(\.id), offered.map { names.mutations[$0.mutation] }, "offered")
    for (mutation, (_, after)) in zip(mutations, offered) {
      try require(mutation.after, after.map { names.mutations[$0] }, "predecessors of \(names.name(mutation.id))")
    }
    messages.append(
      .push(
        device: device,
        PushRequest(
          schema: SchemaStamp(catalog.schema), replica: store.replicaID, cursor: store.cursor,
          settled: try store.settledMark(), mutations: mutations)))
  }

  func ask(_ device: String) throws {
    let store = try store(device)
    let request = PullRequest(
      schema: SchemaStamp(catalog.schema), replicas: store.replicaIDs, cursor: store.cursor,
      settled: try store.settledMark(), limit: reader.head.limit)
    messages.append(.pull(device: device, request, when: store.clock))
  }

  func push(_ message: Int, _ outcome: PushOutcome) throws {
    guard case .push(let device, let request) = messages[message] else { throw Difference("no push \(message)") }
    messages.append(.verdicts(try push(request, as: user(device), outcome)))
  }

  private func push(_ request: PushRequest, as user: AccountID, _ outcome: PushOutcome) throws -> [Verdict] {
    let locked = Set(outcome.locked.map { names.keys[$0] })
    // Another program's lock on a row is met by whoever writes the row; to read it waits for nobody.
    let met = request.mutations.map { $0.isVoid ? [] : locked.intersection($0.operations.map(\.key)) }
    let host = try server()
    host.storage.set { $0.locked = locked.isEmpty ? [] : met }
    let verdicts = try host.core.push(request, as: user).verdicts
    host.storage.set { $0 = .init() }
    if outcome.isSequenced { try host.core.sequence() }
    try require(
      try letters(verdicts, request), outcome.verdicts, "verdicts on \(request.mutations.map { names.name($0.id) })")
    return verdicts
  }

  /// A letter a verdict, if they come in the order of the mutations.
  private func letters(_ verdicts: [Verdict], _ request: PushRequest) throws -> String {
    var out = ""
    for (index, verdict) in verdicts.enumerated() {
      let wanted = index < request.mutations.count ? request.mutations[index].id : nil
      switch verdict {
      case .settled(let id, let outcome) where id == wanted: out += HistoryReplay.letters[outcome] ?? "?"
      case .notYet(let id) where id == wanted: out += "n"
      case .busy(let id) where id == wanted: out += "b"
      case .identityReused(let replica) where replica == request.replica: out += "i"
      case .otherHistory: out += "h"
      case .forbidden: out += "f"
      default: throw Difference("a verdict on something else: \(verdict)")
      }
    }
    return out
  }

  private static let letters: [Outcome: String] = [.confirmed: "c", .rejected: "r", .conflicted: "x", .void: "v"]

  func pull(_ message: Int, _ outcome: PullOutcome) throws {
    guard case .pull(let device, let request, let when) = messages[message] else {
      throw Difference("no pull \(message)")
    }
    messages.append(.answer(try pull(request, as: user(device), outcome), request, when: when))
  }

  private func pull(_ request: PullRequest, as user: AccountID, _ outcome: PullOutcome) throws -> PullAnswer {
    let later = Later()
    later.action = { for commit in outcome.between { try self.commit(commit) } }
    let hook: @Sendable () throws -> Void = { try later.run() }
    let host = try server()
    host.storage.set { script in
      script.isSequencerBusy = outcome.isBusy
      script.afterSequencer = outcome.between.isEmpty ? nil : hook
    }
    let answer = try host.core.pull(request, as: user)
    host.storage.set { $0 = .init() }
    if !outcome.between.isEmpty, !later.isDone {
      throw Difference("nothing was done between sequencer and page")
    }
    try compare(answer, outcome.answer)
    return answer
  }

  private func compare(_ found: PullAnswer, _ expected: PullOutcome.Answer) throws {
    switch (found, expected) {
    case (.reset(let reset), .reset(let reason, let spaces)):
      try require(reset.reason.rawValue, reason, "reset")
      try require(reset.spaces, spaces, "spaces of the reset")
    case (.page(let page), .page(let closes, let items, let open)):
      try require(page.items.map { HistoryItem($0) }, items, "items")
      try require(page.closes, closes, "closes")
      try require(page.cursor.open.map(\.space), open, "open spaces")
    default: throw Difference("another kind of answer: expected \(expected), found \(found)")
    }
  }

  func receive(_ message: Int, _ device: String, _ fits: Bool?, _ minted: String?) throws {
    let store = try store(device)
    switch messages[message] {
    case .verdicts(let verdicts):
      try store.take(verdicts)
      if let minted { names.learn(replica: minted, store.replicaID) }
    case .answer(.page(let page), let request, let when):
      let effect = try store.apply(page, asked: request.cursor, when: when)
      try require(effect.isApplied, fits ?? false, "whether the page applies")
      try require(effect.mismatches, [], "digests that differ")
    case .answer(.reset(let reset), let request, _):
      let effect = try store.apply(reset, asked: request.cursor)
      try require(effect.isApplied, fits ?? false, "whether the reset applies")
    default: throw Difference("no answer \(message)")
    }
  }

  // MARK: Attackers

  func attack(
    _ user: String, _ number: Int64, _ mutation: Int, _ operations: [HistoryOperation], _ outcome: PushOutcome
  ) throws {
    let mutation = Mutation(
      id: names.mutations[mutation], number: number, operations: try operations.map(operation))
    let request = PushRequest(
      schema: SchemaStamp(catalog.schema), replica: ReplicaID("evil-" + user), cursor: nil, settled: 0,
      mutations: [mutation])
    _ = try push(request, as: AccountID(user), outcome)
  }

  /// A pull with the cursor of somebody's device, in which spaces are forged to be open.
  func attack(_ user: String, _ device: String, _ open: [SpaceID], _ limit: Int, _ outcome: PullOutcome) throws {
    let owner = [ReplicaID("evil-" + user)]
    guard var cursor = try store(device).cursor else { throw Difference("no cursor to forge") }
    cursor.owner = owner
    cursor.open = open.map { OpenSpace(space: $0, target: 1_000_000) }
    let request = PullRequest(
      schema: SchemaStamp(catalog.schema), replicas: owner, cursor: cursor, settled: 0, limit: limit)
    _ = try pull(request, as: AccountID(user), outcome)
  }
}

extension HistoryItem {
  /// What an item of a page is, without the row's content.
  fileprivate init(_ item: PageItem) {
    switch item {
    case .gain(let space): self.init(kind: UInt8(ascii: ">"), space: space, subject: .space)
    case .lose(let space): self.init(kind: UInt8(ascii: "<"), space: space, subject: .space)
    case .filled(let space): self.init(kind: UInt8(ascii: "="), space: space, subject: .space)
    case .put(let space, let image): self.init(kind: UInt8(ascii: "+"), space: space, subject: .row(image.key))
    case .left(let space, let key, let still):
      self.init(kind: UInt8(ascii: "/"), space: space, subject: .row(key), still: still)
    case .deleted(let space, let key): self.init(kind: UInt8(ascii: "-"), space: space, subject: .row(key))
    case .receipt(let space, let receipt):
      self.init(kind: UInt8(ascii: "+"), space: space, subject: .receipt(receipt.id))
    }
  }
}

/// What is done between two transactions of one request, by the test's own thread.
// Unchecked: the server calls it on the thread on which the test called the server.
private final class Later: @unchecked Sendable {
  var action: (() throws -> Void)?
  private(set) var isDone = false

  func run() throws {
    isDone = true
    try action?()
  }
}
