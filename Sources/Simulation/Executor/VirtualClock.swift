// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit

/// A clock that shows the scheduler's time. Whoever sleeps wakes by a timer; a cancelled sleeper wakes at once.
package struct VirtualClock: Clock {
  /// Milliseconds since 1970.
  package struct Instant: InstantProtocol {
    package var milliseconds: Int64

    /// The instant so much later; parts of a millisecond count as a whole one.
    package func advanced(by duration: Duration) -> Instant {
      Instant(milliseconds: milliseconds + duration.milliseconds)
    }

    /// How far it is to another.
    package func duration(to other: Instant) -> Duration { .milliseconds(other.milliseconds - milliseconds) }

    package static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }
  }

  private let scheduler: Scheduler
  private let hold: @Sendable () -> Int64

  /// - Parameter hold: before this time nobody wakes: a node that is frozen sleeps on.
  package init(_ scheduler: Scheduler, hold: @escaping @Sendable () -> Int64 = { .min }) {
    self.scheduler = scheduler
    self.hold = hold
  }

  package var now: Instant { Instant(milliseconds: scheduler.now) }
  package var minimumResolution: Duration { .milliseconds(1) }

  /// Waits until an instant.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before.
  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let waiter = OneShot<Void>()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if waiter.begin(continuation) { wake(waiter, at: deadline.milliseconds) }
      }
    } onCancel: {
      waiter.end(.failure(CancellationError()))
    }
  }

  private func wake(_ waiter: OneShot<Void>, at time: Int64) {
    scheduler.at(time) {
      let earliest = hold()
      if earliest > scheduler.now { wake(waiter, at: earliest) } else { waiter.end(.success(())) }
    }
  }
}
