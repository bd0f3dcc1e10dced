// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import SkerryModel
import Testing

/// A machine with the time and the outbox that it is asked about. A test is a column of facts that it hears and commands
/// that it gives.
final class Conversation {
  private var machine: SyncMachine
  private(set) var now: Int64
  /// The entries without a verdict.
  var ready: [MutationID]
  /// The jitter's bits. 0 gives the shortest wait; a number up to the bound gives itself.
  var random: UInt64 = 0
  private(set) var consequence = SyncMachine.Consequence.none

  init(ready: [MutationID] = [], policy: TimingPolicy = .standard, now: Int64 = 1_800_000_000_000) {
    machine = SyncMachine(policy)
    self.ready = ready
    self.now = now
  }

  var condition: SyncMachine.Condition { machine.condition }

  /// The machine's next command is this one.
  func expect(_ command: SyncMachine.Command, at location: SourceLocation = #_sourceLocation) {
    let found = self.command()
    #expect(found == command, sourceLocation: location)
  }

  /// The machine waits for this long.
  func expect(wait milliseconds: Int64, at location: SourceLocation = #_sourceLocation) {
    expect(.wait(until: now + milliseconds), at: location)
  }

  /// The machine hears a fact; entries that were judged leave what is ready.
  func hear(_ fact: SyncMachine.Fact) {
    consequence = machine.take(fact, at: now, random: random)
    if case .pushJudged(let ids, _) = fact { ready.removeAll { ids.contains($0) } }
    if case .setAside(let id, _) = consequence { ready.removeAll { $0 == id } }
  }

  /// The server judged all of these.
  func judge(_ ids: MutationID...) { hear(.pushJudged(ids, ready: ready.count)) }

  /// Something answered a push of these, or a pull, and it was no judgement.
  func fail(_ status: Int = 503, retryAfter: Int64? = nil, _ offered: MutationID...) {
    hear(.failed(.transient(status: status, retryAfter: retryAfter), offered: offered))
  }

  /// What is to be done now.
  func command() -> SyncMachine.Command { machine.next(at: now, ready: ready) { _ in [] } }

  /// The entries that the next push offers; nil if it is another command.
  func offered() -> [MutationID]? { if case .push(let ids) = command() { ids } else { nil } }

  /// Moves the clock; a negative number sets it back.
  func pass(_ milliseconds: Int64) { now += milliseconds }

  /// A round without failures, from wherever the machine is, with everything judged.
  func finishRound(at location: SourceLocation = #_sourceLocation) {
    for _ in 0..<1_000 {
      switch command() {
      case .push(let ids): hear(.pushJudged(ids, ready: ready.count))
      case .pull: hear(.pageTaken(isLast: true))
      case .wait: return
      }
    }
    Issue.record("the round does not end", sourceLocation: location)
  }

  /// An id that is told by its number.
  static func id(_ number: UInt64) -> MutationID { MutationID(raw: Bytes16(high: number, low: 0)) }

  static func ids(_ range: ClosedRange<UInt64>) -> [MutationID] { range.map(id) }
}

/// Entries, in the order in which they were made.
let (one, two, three, four) = (Conversation.id(1), Conversation.id(2), Conversation.id(3), Conversation.id(4))
