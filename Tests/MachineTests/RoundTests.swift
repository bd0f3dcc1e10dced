// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import Testing

@Suite struct RoundTests {
  @Test func `a round pushes all that is ready, pulls to the last page, and rests for the interval`() {
    let talk = Conversation(ready: [one, two, three], policy: TimingPolicy(batch: 2, page: 7))
    talk.expect(.push([one, two]))
    talk.judge(one, two)
    talk.expect(.push([three]))
    talk.judge(three)
    talk.expect(.pull(limit: 7))
    talk.hear(.pageTaken(isLast: false))
    talk.expect(.pull(limit: 7))
    talk.hear(.pageTaken(isLast: true))
    talk.expect(wait: 30_000)
    #expect(talk.condition == .idle)
    talk.pass(29_999)
    talk.expect(wait: 1)
    talk.pass(1)
    talk.expect(.pull(limit: 7))
    #expect(talk.condition == .working)
  }

  @Test func `a new machine begins at once`() {
    Conversation().expect(.pull(limit: 2_000))
    Conversation(now: 0).expect(.pull(limit: 2_000))
    Conversation(now: -1).expect(.pull(limit: 2_000))
  }

  @Test(arguments: [SyncMachine.Fact.syncWanted, .syncRequested])
  func `a wish ends the rest`(_ wish: SyncMachine.Fact) {
    let talk = Conversation()
    talk.finishRound()
    talk.expect(wait: 30_000)
    talk.hear(wish)
    talk.expect(.pull(limit: 2_000))
  }

  @Test func `a local write during a round makes another round`() {
    let talk = Conversation()
    talk.expect(.pull(limit: 2_000))
    talk.ready = [one]
    talk.hear(.syncWanted)
    talk.hear(.pageTaken(isLast: true))
    #expect(talk.condition == .working, "the next round is under way: a status of idle would lie")
    talk.expect(.push([one]))
    talk.judge(one)
    talk.expect(.pull(limit: 2_000))
    talk.hear(.pageTaken(isLast: true))
    talk.expect(wait: 30_000)
  }

  @Test func `a write while a push is on its way is pushed in the same round`() {
    let talk = Conversation(ready: [one])
    talk.expect(.push([one]))
    talk.ready = [one, two]
    talk.hear(.syncWanted)
    talk.judge(one)
    talk.expect(.push([two]))
  }

  @Test func `many wishes in one round make one round more`() {
    let talk = Conversation()
    talk.expect(.pull(limit: 2_000))
    for _ in 0..<20 { talk.hear(.syncWanted) }
    talk.hear(.pageTaken(isLast: true))
    talk.expect(.pull(limit: 2_000))
    talk.hear(.pageTaken(isLast: true))
    talk.expect(wait: 30_000)
  }

  @Test func `a push from another history waits for the pull that tells of the reset`() {
    let talk = Conversation(ready: [one])
    talk.expect(.push([one]))
    talk.hear(.historyChanged)
    talk.expect(.pull(limit: 2_000))
    talk.hear(.resetTaken)
    talk.expect(.pull(limit: 2_000))
    talk.random = 700
    talk.hear(.pageTaken(isLast: true))
    talk.expect(wait: 700)
    talk.pass(700)
    talk.expect(.push([one]))
  }

  @Test func `work that was sent in an earlier conversation is asked after before it is offered again`() {
    let talk = Conversation(ready: [one, two])
    talk.hear(.syncRequested)
    talk.hear(.sentWorkFound)
    talk.expect(.pull(limit: 2_000))
    talk.ready = [two]
    talk.hear(.pageTaken(isLast: true))
    talk.expect(.push([two]))
    talk.judge(two)
    talk.expect(.pull(limit: 2_000))
    talk.hear(.pageTaken(isLast: true))
    talk.expect(wait: 30_000)
  }

  @Test func `work that was sent in an earlier conversation is offered again when it cannot be asked after`() {
    let talk = Conversation(ready: [one])
    talk.hear(.sentWorkFound)
    talk.expect(.pull(limit: 2_000))
    talk.fail(503)
    talk.expect(.push([one]))
  }

  @Test(arguments: [0, 1, 99, 100, 101, 200, 201])
  func `B38 a backlog of any size drains in as many pushes as there are batches`(_ count: UInt64) {
    let talk = Conversation(ready: count == 0 ? [] : Conversation.ids(1...count))
    var pushes = 0
    while let ids = talk.offered() {
      talk.hear(.pushJudged(ids, ready: min(talk.ready.count, 100)))
      pushes += 1
    }
    #expect(UInt64(pushes) == (count + 99) / 100)
    talk.hear(.pageTaken(isLast: true))
    talk.expect(wait: 30_000)
  }

  @Test func `B120 a backlog drains until it is empty on one wish`() {
    let talk = Conversation(ready: Conversation.ids(1...1_000), policy: TimingPolicy(batch: 20))
    talk.finishRound()
    #expect(talk.ready.isEmpty)
  }

  @Test func `an answer that something repeats is not asked for in a tight loop`() {
    let talk = Conversation()
    talk.expect(.pull(limit: 2_000))
    talk.random = 1_000
    talk.hear(.resetTaken)
    talk.expect(.pull(limit: 2_000))
    talk.hear(.resetTaken)
    talk.expect(.pull(limit: 2_000))
    talk.hear(.resetTaken)
    talk.expect(wait: 1_000)
    #expect(talk.condition == .failing(status: 200))
    talk.hear(.syncWanted)
    talk.expect(wait: 1_000)
    talk.pass(1_000)
    talk.random = 2_000
    talk.expect(.pull(limit: 2_000))
    talk.hear(.pageIgnored)
    talk.expect(wait: 2_000)
    talk.pass(2_000)
    talk.expect(.pull(limit: 2_000))
    talk.hear(.pageTaken(isLast: true))
    talk.expect(wait: 30_000)
    #expect(talk.condition == .idle)
  }
}
