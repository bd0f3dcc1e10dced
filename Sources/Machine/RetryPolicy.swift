// SPDX-License-Identifier: Apache-2.0

/// How long to wait after failures: exponential with full jitter, so that devices that failed together do not come back
/// together (Brooker, "Exponential Backoff and Jitter", 2015).
public struct RetryPolicy: Hashable, Sendable {
  /// The bound after the first failure, in milliseconds.
  public private(set) var base: Int64
  /// The highest bound, in milliseconds.
  public private(set) var cap: Int64
  /// The longest wait that a server's Retry-After is followed for, in milliseconds.
  public private(set) var retryAfterCap: Int64

  /// The standard: up to 1 s, 2 s, 4 s ... 60 s; Retry-After up to an hour.
  public init(base: Int64 = 1_000, cap: Int64 = 60_000, retryAfterCap: Int64 = 3_600_000) {
    let waits: ClosedRange<Int64> = 0...31_536_000_000
    self.base = min(max(base, waits.lowerBound), waits.upperBound)
    self.cap = min(max(cap, waits.lowerBound), waits.upperBound)
    self.retryAfterCap = min(max(retryAfterCap, waits.lowerBound), waits.upperBound)
  }

  /// The wait after so many failures in a row, at least 1.
  ///
  /// - Parameters:
  ///   - random: sixty-four random bits, which decide where in 0...bound the wait lies.
  ///   - retryAfter: what the server asked for; the wait is never shorter than that, up to the cap.
  package func delay(afterFailures count: Int, random: UInt64, retryAfter: Int64?) -> Int64 {
    let doublings = min(max(count, 1) - 1, 30)
    let bound = min(cap, base.multipliedReportingOverflow(by: 1 << Int64(doublings)).overflow ? cap : base << doublings)
    let jittered = Int64(random % UInt64(max(bound, 0) + 1))
    guard let retryAfter, retryAfter > 0 else { return jittered }
    return min(retryAfter, retryAfterCap) + min(jittered, bound)
  }
}
