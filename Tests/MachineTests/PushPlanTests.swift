// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import SkerryModel
import Testing

@Suite struct PushPlanTests {
  private let ids = Conversation.ids(1...8)

  @Test func `a plan offers the first entries, as many as a batch holds`() {
    var plan = PushPlan(limit: 3)
    #expect(plan.next(of: ids) == Conversation.ids(1...3))
    #expect(plan.next(of: [one]) == [one])
    #expect(plan.next(of: []) == [])
  }

  /// The sizes of the offers to a server, or something on the way, that takes batches up to a size.
  private func sizes(_ count: Int, upTo size: Int, _ fail: (inout PushPlan, [MutationID]) -> Void) -> [Int] {
    var plan = PushPlan(limit: 8)
    return (0..<count).map { _ in
      let offer = plan.next(of: ids)
      if offer.count <= size { plan.batchJudged(offer, allReady: 80) } else { fail(&plan, offer) }
      return offer.count
    }
  }

  @Test func `a batch that was too long is halved, and what passed is remembered for a while`() {
    let found = sizes(13, upTo: 2) { plan, offer in _ = plan.requestTooLarge(offer) }
    #expect(found == [8, 4, 2, 2, 2, 2, 4, 2, 2, 2, 2, 4, 2])
  }

  @Test func `a batch that fails without a reason is quartered, and so is one that broke the line`() {
    let expected = [8, 2, 2, 2, 2, 4, 1, 1, 1, 1, 2, 2]
    let failed = sizes(12, upTo: 3) { plan, offer in _ = plan.batchFailed(offer) }
    let broken = sizes(12, upTo: 3) { plan, offer in plan.lineBroke(offer) }
    #expect(failed == expected)
    #expect(broken == expected)
  }

  @Test func `after an outage a size that passes four times is doubled, up to a whole batch`() {
    var plan = PushPlan(limit: 8)
    while !plan.isCareful { _ = plan.batchFailed(plan.next(of: ids)) }
    let sizes = (0..<13).map { _ in
      let offer = plan.next(of: ids)
      plan.batchJudged(offer, allReady: 80)
      return offer.count
    }
    #expect(sizes == [1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8])
  }

  @Test func `an entry that failed alone goes alone, also when others go in batches again`() {
    var plan = singles()
    #expect(plan.next(of: ids) == [one])
    #expect(plan.batchFailed([one]) == nil)
    for _ in 0..<4 { plan.batchJudged(plan.next(of: ids), allReady: 80) }
    let offers = (0..<10).map { _ in plan.next(of: Conversation.ids(1...12)) }
    #expect(offers.contains([one]))
    #expect(offers.allSatisfy { $0 == [one] || !$0.contains(one) })
    #expect(offers.contains { $0.count == 2 })
  }

  @Test func `a batch of one that is too long is set aside, and the next is one too`() {
    var plan = PushPlan(limit: 2)
    #expect(plan.requestTooLarge([one, two]) == nil)
    #expect(plan.next(of: ids) == [one])
    #expect(plan.requestTooLarge([one]) == one)
    #expect(plan.next(of: [two, three]) == [two])
  }

  @Test func `a batch that passes ends the count of failures`() {
    var plan = PushPlan(limit: 8)
    for _ in 0..<5 {
      #expect(plan.batchFailed([one]) == nil)
      #expect(plan.batchFailed([one]) == nil)
      plan.batchJudged([one], allReady: 8)
      #expect(!plan.isCareful)
    }
    for _ in 0..<PushPlan.patience { #expect(plan.batchFailed([one]) == nil) }
    #expect(plan.isCareful)
  }

  @Test func `what was offered in vain for long still goes before new entries that may lean on it`() {
    var plan = singles()
    for _ in 0..<50 { #expect(plan.next(of: [one]) == [one]) }
    var offers: [MutationID] = []
    for _ in 0..<6 { offers += plan.next(of: [one, two, three]) }
    #expect(offers == [one, two, three, one, two, three])
  }

  @Test func `single sends take turns`() {
    var plan = singles()
    let offers = (0..<6).flatMap { _ in plan.next(of: [one, two, three]) }
    #expect(offers == [one, two, three, one, two, three])
    let later = (0..<4).flatMap { _ in plan.next(of: [one, two, three, four]) }
    #expect(later == [one, two, three, four], "a new entry waits for its turn: it may lean on an older one")
  }

  @Test func `nothing is offered before what it waits for, however often that failed`() {
    var plan = singles()
    // Two waits for one, three for two; four is free. One fails each time that it is offered.
    let after = [two: [one], three: [two]]
    var offers: [[MutationID]] = []
    for _ in 0..<6 {
      let offer = plan.next(of: [one, two, three, four]) { after[$0] ?? [] }
      offers.append(offer)
      if offer.contains(one) { _ = plan.batchFailed(offer) } else { plan.batchJudged([], allReady: 4) }
    }
    #expect(offers.first == [one])
    #expect(offers.allSatisfy { $0 == [one] || $0 == [four] }, "\(offers)")
    // Once it is judged, the others follow in their order.
    plan.batchJudged([one], allReady: 4)
    var left = [two, three, four]
    var later: [MutationID] = []
    while !left.isEmpty, later.count < 9 {
      let offer = plan.next(of: left) { after[$0] ?? [] }
      plan.batchJudged(offer, allReady: left.count)
      left.removeAll { offer.contains($0) }
      later += offer
    }
    #expect(later == [two, three, four])
  }

  @Test func `several entries that fail since one passed are none of them to blame`() {
    var plan = singles()
    plan.batchJudged(plan.next(of: [one, two, three]), allReady: 3)
    for _ in 0..<6 {
      let offer = plan.next(of: [two, three])
      #expect(plan.batchFailed(offer) == nil)
    }
    // One more passes: now the failures of the others are their own.
    plan.batchJudged(plan.next(of: [four]), allReady: 3)
    let blamed = plan.next(of: [two, three])
    #expect(plan.batchFailed(blamed) == blamed.first)
    let other = plan.next(of: [two, three].filter { $0 != blamed.first })
    #expect(plan.batchFailed(other) == other.first)
  }

  @Test func `an entry that a person takes up again has its tries anew`() {
    var plan = singles()
    plan.batchJudged(plan.next(of: [two, one]), allReady: 2)
    for attempt in 1...3 { #expect(plan.batchFailed(plan.next(of: [one])) == (attempt == 3 ? one : nil)) }
    for attempt in 1...3 { #expect(plan.batchFailed(plan.next(of: [one])) == (attempt == 3 ? one : nil)) }
  }

  @Test func `nothing is blamed for a failure that offered nothing`() {
    var plan = singles()
    #expect(plan.batchFailed([]) == nil)
  }

  /// A plan that sends entries singly, since none passed.
  private func singles() -> PushPlan {
    var plan = PushPlan(limit: 8)
    for _ in 0..<10 where !plan.isCareful { _ = plan.batchFailed(plan.next(of: ids)) }
    return plan
  }
}

extension PushPlan {
  /// The next offer of entries that wait for nothing.
  fileprivate mutating func next(of ready: [MutationID]) -> [MutationID] { next(of: ready) { _ in [] } }
}
