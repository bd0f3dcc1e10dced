// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lets so many in at one time; the others wait in order.
final class Turnstile: Sendable {
  /// Begins; false if there is nothing to begin any more, and then the place goes to the next.
  typealias Entry = @Sendable () -> Bool

  private struct State {
    var free: Int
    var waiting: [Entry] = []
  }

  private let state: Mutex<State>

  init(places: Int) { state = Mutex(State(free: max(1, places))) }

  func enter(_ entry: @escaping Entry) {
    let isFree = state.withLock { state in
      guard state.free > 0 else {
        state.waiting.append(entry)
        return false
      }
      state.free -= 1
      return true
    }
    if isFree, !entry() { left() }
  }

  /// Once for each entry that has begun, when it is over.
  func left() {
    while let next = next() { if next() { return } }
  }

  private func next() -> Entry? {
    state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
  }
}
