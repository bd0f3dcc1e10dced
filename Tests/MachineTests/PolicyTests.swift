// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import Testing

@Suite struct PolicyTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let failures: Int
    let bound: Int64
    var testDescription: String { "after \(failures): 0 to \(bound) ms" }
  }

  static let table = [
    Row(failures: 1, bound: 1_000), Row(failures: 2, bound: 2_000), Row(failures: 3, bound: 4_000),
    Row(failures: 4, bound: 8_000), Row(failures: 5, bound: 16_000), Row(failures: 6, bound: 32_000),
    Row(failures: 7, bound: 60_000), Row(failures: 8, bound: 60_000), Row(failures: 100, bound: 60_000),
    Row(failures: .max, bound: 60_000), Row(failures: 0, bound: 1_000), Row(failures: -3, bound: 1_000),
  ]

  @Test(arguments: table)
  func `the wait lies anywhere between nothing and the bound`(_ row: Row) {
    let policy = RetryPolicy()
    func wait(_ random: UInt64) -> Int64 { policy.delay(afterFailures: row.failures, random: random, retryAfter: nil) }
    #expect(wait(0) == 0)
    #expect(wait(UInt64(row.bound)) == row.bound)
    #expect(wait(UInt64(row.bound) + 1) == 0)
    var generator = Xorshift(state: 99)
    let waits = (0..<400).map { _ in wait(generator.next()) }
    #expect(waits.allSatisfy { (0...row.bound).contains($0) })
    // Full jitter: devices that failed together spread over the whole range.
    for quarter: Int64 in 0..<4 {
      let range = quarter * row.bound / 4...(quarter + 1) * row.bound / 4
      #expect(waits.count { range.contains($0) } > 50)
    }
  }

  @Test func `B40 a thousand devices that failed together do not come back together`() {
    let policy = RetryPolicy()
    var generator = Xorshift(state: 5)
    let waits = (0..<1_000).map { _ in policy.delay(afterFailures: 6, random: generator.next(), retryAfter: nil) }
    let perSecond = Dictionary(grouping: waits) { $0 / 1_000 }.mapValues(\.count)
    #expect(perSecond.values.max() ?? 0 < 80)
    #expect(perSecond.count >= 32)
  }

  @Test func `a wait that the server names is never shortened by the jitter`() {
    let policy = RetryPolicy(base: 100, cap: 1_000, retryAfterCap: 5_000)
    for random: UInt64 in [0, 1, 99, 100, 12_345, .max] {
      let wait = policy.delay(afterFailures: 3, random: random, retryAfter: 2_000)
      #expect((2_000...2_400).contains(wait))
      #expect((5_000...5_400).contains(policy.delay(afterFailures: 3, random: random, retryAfter: .max)))
    }
  }

  @Test func `a policy without waits waits not at all`() {
    let policy = RetryPolicy(base: 0, cap: 0, retryAfterCap: 0)
    for count in 1..<40 { #expect(policy.delay(afterFailures: count, random: .max, retryAfter: nil) == 0) }
    #expect(RetryPolicy(base: -5, cap: 10).delay(afterFailures: 2, random: .max, retryAfter: nil) == 0)
  }

  @Test func `doublings do not leave the range of 64-bit integers`() {
    let policy = RetryPolicy(base: .max / 2, cap: .max - 1)
    for count in 1..<80 { #expect(policy.delay(afterFailures: count, random: .max, retryAfter: nil) >= 0) }
  }
}
