// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One wait, ended once by whichever comes first; that may be before anybody waits.
final class Waiter: Sendable {
  private enum State {
    case early
    case waiting(CheckedContinuation<Void, any Error>)
    case ended(isCancelled: Bool)
  }

  private let state = Mutex(State.early)

  /// - Throws: `CancellationError` if that is how it ended.
  func wait() async throws {
    try await withCheckedThrowingContinuation { continuation in
      let ended: Bool? = state.withLock { state in
        if case .ended(let isCancelled) = state { return isCancelled }
        state = .waiting(continuation)
        return nil
      }
      if let ended { Waiter.resume(continuation, isCancelled: ended) }
    }
  }

  func end(isCancelled: Bool) {
    let waiting: CheckedContinuation<Void, any Error>? = state.withLock { state in
      switch state {
      case .early, .ended:
        if case .early = state { state = .ended(isCancelled: isCancelled) }
        return nil
      case .waiting(let continuation):
        state = .ended(isCancelled: isCancelled)
        return continuation
      }
    }
    if let waiting { Waiter.resume(waiting, isCancelled: isCancelled) }
  }

  private static func resume(_ continuation: CheckedContinuation<Void, any Error>, isCancelled: Bool) {
    if isCancelled { continuation.resume(throwing: CancellationError()) } else { continuation.resume() }
  }
}
