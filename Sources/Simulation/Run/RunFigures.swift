// SPDX-License-Identifier: Apache-2.0

/// What a run did.
package struct RunFigures: Sendable, Equatable, Codable {
  package var virtualMilliseconds: Int64 = 0
  package var jobs = 0
  package var looks = 0
  package var requests = 0
  package var messages = 0
  package var acknowledged = 0
  package var confirmed = 0
  package var rejected = 0
  /// Refusals by their code, and withdrawals.
  package var refusals: [String: Int] = [:]
  package var foreignCommits = 0
  /// Updates of apps and of servers to a later version of the schema.
  package var updates = 0
  package var rounds = 0
  /// Days of a device that makes 100 writes and syncs 48 times in each: idle days do not count.
  package var deviceDays = 0.0
  /// Acknowledged writes that are neither in an outbox nor ended.
  package var lost = 0
  /// Outboxes that had not drained when everything had been well for the bound of `heal`.
  package var stuck = 0
  /// Milliseconds after the heal at which everything had drained.
  package var drained: Int64 = 0

  package init() {}

  package mutating func add(_ other: RunFigures) {
    virtualMilliseconds += other.virtualMilliseconds
    jobs += other.jobs
    looks += other.looks
    requests += other.requests
    messages += other.messages
    acknowledged += other.acknowledged
    confirmed += other.confirmed
    rejected += other.rejected
    refusals.merge(other.refusals, uniquingKeysWith: +)
    foreignCommits += other.foreignCommits
    updates += other.updates
    rounds += other.rounds
    lost += other.lost
    stuck += other.stuck
    deviceDays += other.deviceDays
    drained = max(drained, other.drained)
  }
}
