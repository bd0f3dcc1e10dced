// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lets one task wait for a time or for a signal, whichever is first. A signal that comes while nobody waits ends the next
/// wait at once.
final class Alarm: Sendable {
  private enum State {
    case quiet
    case rung
    case waiting(CheckedContinuation<Void, Never>)
  }

  private let state = Mutex(State.quiet)
  private let executor: (any TaskExecutor)?

  /// - Parameter executor: where the timers run; nil for the runtime's threads.
  init(executor: (any TaskExecutor)?) { self.executor = executor }

  /// Ends the wait. Safe from any thread.
  func ring() {
    let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
      defer { state = .rung }
      guard case .waiting(let waiter) = state else { return nil }
      return waiter
    }
    guard let waiter else { return }
    state.withLock { $0 = .quiet }
    waiter.resume()
  }

  /// Waits for a signal, at most for a duration; a cancelled task does not wait.
  func wait(for duration: Duration?, clock: any Clock<Duration>) async {
    let timer = duration.map { duration in
      Task(executorPreference: executor) {
        do {
          try await clock.sleep(for: duration)
          self.ring()
        } catch {}  // cancelled: the wait has ended otherwise
      }
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDue = state.withLock { state in
          if case .rung = state {
            state = .quiet
            return true
          }
          state = .waiting(continuation)
          return false
        }
        if isDue { continuation.resume() }
      }
    } onCancel: {
      ring()
    }
    timer?.cancel()
    await timer?.value
  }
}
