// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A clock that stands still until a test moves it. Whoever sleeps is woken by that, or by being cancelled.
final class ManualClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var next = 0
    var cancelled: Set<Int> = []
    var sleepers: [Int: Sleeper] = [:]
    var watchers: [(count: Int, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      defer { state.next += 1 }
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enter(Sleeper(deadline: deadline, continuation: continuation), number)
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        if let sleeper = state.sleepers.removeValue(forKey: number) { return sleeper }
        state.cancelled.insert(number)
        return nil
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  private func enter(_ sleeper: Sleeper, _ number: Int) {
    enum Fate {
      case sleeps([CheckedContinuation<Void, Never>])
      case wakes, cancelled
    }
    let fate = state.withLock { state -> Fate in
      if state.cancelled.remove(number) != nil { return .cancelled }
      if sleeper.deadline <= state.now { return .wakes }
      state.sleepers[number] = sleeper
      let due = state.watchers.filter { $0.count <= state.sleepers.count }.map(\.1)
      state.watchers.removeAll { $0.count <= state.sleepers.count }
      return .sleeps(due)
    }
    switch fate {
    case .sleeps(let watchers): for watcher in watchers { watcher.resume() }
    case .wakes: sleeper.continuation.resume()
    case .cancelled: sleeper.continuation.resume(throwing: CancellationError())
    }
  }

  /// Returns when so many sleep.
  func sleepers(reach count: Int) async {
    await withCheckedContinuation { continuation in
      let isDue = state.withLock { state in
        if state.sleepers.count >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isDue { continuation.resume() }
    }
  }

  /// Moves the clock, and wakes those whose time has come.
  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.sorted { $0.deadline < $1.deadline }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }
}
