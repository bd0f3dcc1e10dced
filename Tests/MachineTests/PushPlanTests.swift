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

  @Test func `a batch that was too long is halved, and doubled again as batches pass`() {
    var plan = PushPlan(limit: 8)
    var sizes: [Int] = []
    for answer in [false, false, true, true, true, true] {
      let offer = plan.next(of: ids)
      sizes.append(offer.count)
      if answer { plan.batchJudged(offer, allReady: 8) } else { #expect(plan.requestTooLarge(offer) == nil) }
    }
    #expect(sizes == [8, 4, 2, 4, 8, 8])
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
      #expect(plan.batchFailed(ids) == nil)
      #expect(plan.batchFailed(ids) == nil)
      plan.batchJudged(ids, allReady: 8)
      #expect(!plan.isSingle)
    }
    for _ in 0..<PushPlan.patience { #expect(plan.batchFailed(ids) == nil) }
    #expect(plan.isSingle)
  }

  @Test func `single sends take turns`() {
    var plan = singles()
    let offers = (0..<6).flatMap { _ in plan.next(of: [one, two, three]) }
    #expect(offers == [one, two, three, one, two, three])
    #expect(plan.next(of: [one, two, three, four]) == [four], "a new entry goes first")
  }

  @Test func `several entries that fail since one passed are none of them to blame`() {
    var plan = singles()
    plan.batchJudged(plan.next(of: [one, two, three]), allReady: 3)
    for _ in 0..<6 {
      let offer = plan.next(of: [two, three])
      #expect(plan.batchFailed(offer) == nil)
    }
    // One more passes: now the failures of the others are their own.
    plan.batchJudged(plan.next(of: [two, three, four]), allReady: 3)
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

  private func singles() -> PushPlan {
    var plan = PushPlan(limit: 8)
    for _ in 0..<PushPlan.patience { _ = plan.batchFailed(ids) }
    return plan
  }
}
