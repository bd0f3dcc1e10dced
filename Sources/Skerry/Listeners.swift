// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Those who want to know what happens to a replica. A stream that ends, or whose reader goes away, takes itself out.
final class Listeners: Sendable {
  private struct State {
    var continuations: [Int: AsyncStream<ReplicaEvent>.Continuation] = [:]
    var next = 0
  }

  private let state = Mutex(State())

  func add() -> AsyncStream<ReplicaEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: ReplicaEvent.self, bufferingPolicy: .bufferingNewest(256))
    let number = state.withLock { state in
      defer { state.next += 1 }
      state.continuations[state.next] = continuation
      return state.next
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.continuations[number] = nil }
    }
    return stream
  }

  func send(_ event: ReplicaEvent) {
    let all = state.withLock { Array($0.continuations.values) }
    for continuation in all { continuation.yield(event) }
  }
}
