// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A continuation that is resumed once, by whichever comes first; it may have ended before anybody waits.
package final class OneShot<Success: Sendable>: Sendable {
  private enum State {
    case early
    case waiting(CheckedContinuation<Success, any Error>)
    case ended(Result<Success, any Error>?)
  }

  private let state = Mutex(State.early)

  package init() {}

  /// Waits for its end.
  ///
  /// - Throws: whatever it ended with.
  package func wait() async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in _ = begin(continuation) }
  }

  /// - Returns: false if it has ended before it began; then the continuation has been resumed.
  package func begin(_ continuation: CheckedContinuation<Success, any Error>) -> Bool {
    let early: Result<Success, any Error>? = state.withLock { state in
      if case .ended(let result) = state { return result }
      state = .waiting(continuation)
      return nil
    }
    if let early { continuation.resume(with: early) }
    return early == nil
  }

  /// - Returns: whether somebody was waiting.
  @discardableResult
  package func end(_ result: Result<Success, any Error>) -> Bool {
    let waiting: CheckedContinuation<Success, any Error>? = state.withLock { state in
      switch state {
      case .early:
        state = .ended(result)
        return nil
      case .waiting(let continuation):
        state = .ended(nil)
        return continuation
      case .ended: return nil
      }
    }
    waiting?.resume(with: result)
    return waiting != nil
  }
}
