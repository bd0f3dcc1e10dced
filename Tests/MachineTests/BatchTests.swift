// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import SkerryModel
import Testing

@Suite struct BatchTests {
  @Test func `F-N12 a request that is too long is halved at once, down to one, which is set aside`() {
    let talk = Conversation(ready: Conversation.ids(1...5))
    talk.expect(.push(Conversation.ids(1...5)))
    talk.hear(.failed(.tooLarge(isOurs: true), offered: Conversation.ids(1...5)))
    talk.expect(.push([one, two]))
    talk.hear(.failed(.tooLarge(isOurs: true), offered: [one, two]))
    talk.expect(.push([one]))
    talk.hear(.failed(.tooLarge(isOurs: true), offered: [one]))
    #expect(talk.consequence == .setAside(one, "the server takes no request as long as this one"))
    talk.expect(.push([two]))
    talk.judge(two)
    talk.expect(.push([three, four]))
  }

  @Test func `B30 a batch that is too heavy is cut until it passes, with few requests for what gets through`() {
    let talk = Conversation(ready: Conversation.ids(1...400))
    var requests = 0
    while !talk.ready.isEmpty, requests < 1_000 {
      requests += 1
      // After so many pushes a pull comes in between, so that what is judged can leave the outbox.
      guard let ids = talk.offered() else {
        talk.hear(.pageTaken(isLast: true))
        continue
      }
      if ids.count > 20 {
        talk.hear(.failed(.tooLarge(isOurs: true), offered: ids))
      } else {
        talk.hear(.pushJudged(ids, ready: min(talk.ready.count, 100)))
      }
    }
    #expect(talk.ready.isEmpty)
    #expect(requests < 4 * 20)
  }

  @Test func `a pull that is answered with 413 waits like any other failure`() {
    let talk = Conversation()
    talk.random = 1_000
    talk.expect(.pull(limit: 2_000))
    talk.hear(.failed(.tooLarge(isOurs: true), offered: []))
    talk.expect(wait: 1_000)
    #expect(talk.condition == .failing(status: 413))
  }

  @Test func `after three whole-batch failures entries go singly`() {
    let talk = Conversation(ready: [one, two])
    fail(talk, times: 3)
    #expect(offeredNext(talk) == [one])
    #expect(talk.consequence == .none)
  }

  @Test func `an entry that fails alone while others pass is set aside after three tries`() {
    let talk = Conversation(ready: [one, two, three])
    fail(talk, times: 3)
    #expect(offeredNext(talk) == [one])
    talk.fail(500, one)
    #expect(talk.consequence == .noteFailure([one], "the server answered 500"))
    #expect(offeredNext(talk) == [two])
    talk.judge(two)
    #expect(offeredNext(talk) == [three])
    talk.judge(three)
    #expect(offeredNext(talk) == [one])
    talk.fail(500, one)
    #expect(talk.consequence == .noteFailure([one], "the server answered 500"))
    #expect(offeredNext(talk) == [one])
    talk.fail(500, one)
    #expect(talk.consequence == .setAside(one, "the server answered 500"))
    #expect(offeredNext(talk) == nil)
  }

  @Test func `an entry that fails alone is not set aside while no other has passed`() {
    let talk = Conversation(ready: [one])
    fail(talk, times: 3)
    for _ in 0..<30 {
      #expect(offeredNext(talk) == [one])
      talk.fail(500, one)
      #expect(talk.consequence == .noteFailure([one], "the server answered 500"))
    }
  }

  @Test func `a server that goes down while entries go singly has none of them set aside`() {
    let talk = Conversation(ready: Conversation.ids(1...4))
    fail(talk, times: 3)
    #expect(offeredNext(talk) == [one])
    talk.judge(one)
    for _ in 0..<30 {
      guard let ids = offeredNext(talk) else { return #expect(Bool(false), "nothing is offered any more") }
      talk.hear(.failed(.transient(status: 503, retryAfter: nil), offered: ids))
      #expect(talk.consequence == .noteFailure(ids, "the server answered 503"))
    }
    talk.finishRound()
    #expect(talk.ready.isEmpty)
  }

  @Test(arguments: [429, 503]) func `a server with too much to do blames no entry, even if the shorter ones pass`(
    _ status: Int
  ) {
    let talk = Conversation(ready: [one, two, three])
    fail(talk, times: 3)
    #expect(offeredNext(talk) == [one])
    talk.hear(.failed(.transient(status: status, retryAfter: 1_000), offered: [one]))
    #expect(talk.consequence == .none)
    for _ in 0..<30 {
      guard let ids = offeredNext(talk) else { continue }
      if ids == [two] {
        talk.judge(two)
      } else {
        talk.hear(.failed(.transient(status: status, retryAfter: 1_000), offered: ids))
        #expect(talk.consequence == .none)
      }
    }
  }

  @Test func `nobody to answer sets nothing aside, however often`() {
    let talk = Conversation(ready: [one, two])
    fail(talk, times: 3)
    #expect(offeredNext(talk) == [one])
    talk.judge(one)
    for _ in 0..<30 {
      guard let ids = offeredNext(talk) else { continue }
      talk.hear(.failed(.unreachable, offered: ids))
      #expect(talk.consequence == .none)
    }
  }

  @Test func `an entry that waits for another does not keep it from being offered`() {
    let talk = Conversation(ready: [one, two])
    fail(talk, times: 3)
    // The first fails once more, then the server is well again; the second leans on the first.
    #expect(offeredNext(talk) == [one])
    talk.fail(503, one)
    var rounds = 0
    while !talk.ready.isEmpty, rounds < 10 {
      rounds += 1
      guard let ids = offeredNext(talk) else { break }
      if ids == [two], talk.ready.contains(one) {
        talk.hear(.pushDeferred)
      } else {
        talk.hear(.pushJudged(ids, ready: 2))
      }
    }
    #expect(talk.ready.isEmpty, "the queue is stuck: \(talk.ready)")
  }

  @Test func `with everything judged, entries go in batches again`() {
    let talk = Conversation(ready: [one, two])
    fail(talk, times: 3)
    #expect(offeredNext(talk) == [one])
    talk.judge(one)
    #expect(offeredNext(talk) == [two])
    talk.judge(two)
    talk.finishRound()
    talk.ready = [three, four]
    talk.hear(.syncWanted)
    talk.expect(.push([three, four]))
  }

  @Test func `entries that must wait are not offered twice in a round, and again soon`() {
    let talk = Conversation(ready: [one, two])
    talk.expect(.push([one, two]))
    talk.judge(one)
    talk.random = 800
    talk.hear(.pushDeferred)
    talk.expect(.pull(limit: 2_000))
    talk.hear(.pageTaken(isLast: true))
    talk.expect(wait: 800)
    talk.pass(800)
    talk.expect(.push([two]))
  }

  @Test func `B28 a push that always fails holds up no pull, and is tried again without anybody's doing`() {
    let talk = Conversation(ready: [one])
    var pulls = 0
    var pushes = 0
    for _ in 0..<2_000 {
      talk.random = 60_000
      switch talk.command() {
      case .push(let ids):
        pushes += 1
        talk.hear(.failed(.transient(status: 500, retryAfter: nil), offered: ids))
      case .pull:
        pulls += 1
        talk.hear(.pageTaken(isLast: true))
      case .wait(let until): if let until { talk.pass(until - talk.now) }
      }
      if pushes == 20 { break }
    }
    #expect(pulls >= 19)
    #expect(pushes == 20)
    // The waits of the push have grown all the same.
    #expect(talk.now > 1_800_000_000_000 + 10 * 60_000)
  }

  @Test func `a pull that always fails holds up no push`() {
    let talk = Conversation(ready: [one])
    talk.expect(.push([one]))
    talk.fail(503, one)
    talk.expect(.pull(limit: 2_000))
    talk.fail(503)
    talk.expect(.push([one]))
    talk.judge(one)
  }

  // MARK: -

  /// Whole-batch failures, with the pulls between them.
  private func fail(_ talk: Conversation, times: Int) {
    for _ in 0..<times {
      guard let ids = offeredNext(talk) else { return }
      talk.hear(.failed(.transient(status: 503, retryAfter: nil), offered: ids))
    }
  }

  /// The next offer, with passing pulls and the waits before it; nil when a round ends without one.
  private func offeredNext(_ talk: Conversation) -> [MutationID]? {
    var hasRested = false
    for _ in 0..<10 {
      switch talk.command() {
      case .push(let ids): return ids
      case .pull: talk.hear(.pageTaken(isLast: true))
      case .wait(let until):
        if hasRested { return nil }
        hasRested = true
        if let until { talk.pass(until - talk.now) }
      }
    }
    return nil
  }
}
