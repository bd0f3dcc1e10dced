// SPDX-License-Identifier: Apache-2.0

import SkerryCommands
import Synchronization

/// How many orders were acknowledged: the only clock that decides when somebody dies.
final class Progress: Sendable {
  private struct State {
    var count = 0
    var isOver = false
    var waiting: [(target: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var count: Int { state.withLock { $0.count } }

  func advance() { resume { $0.count += 1 } }

  /// Lets everybody go who waits, now and later.
  func end() { resume { $0.isOver = true } }

  private func resume(_ change: (inout State) -> Void) {
    let ready = state.withLock { state in
      change(&state)
      let (count, isOver) = (state.count, state.isOver)
      let ready = state.waiting.filter { isOver || $0.target <= count }.map(\.continuation)
      state.waiting.removeAll { isOver || $0.target <= count }
      return ready
    }
    for continuation in ready { continuation.resume() }
  }

  /// Waits until so many orders were acknowledged, or nobody writes any more.
  func reach(_ target: Int) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { $0.waiting.append((target, continuation)) }
        resume { _ in }
      }
    } onCancel: {
      end()
    }
  }
}

/// Where writers find a device's process. It is empty while nobody lives there.
final class Seat: Sendable {
  struct Sitting: Sendable {
    let device: DeviceProcess
    /// Counts the processes that sat here.
    let generation: Int
  }

  private struct State {
    var generation = 0
    var sitting: Sitting?
    var isClosed = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func seat(_ device: DeviceProcess) {
    resume { state in
      state.generation += 1
      state.sitting = Sitting(device: device, generation: state.generation)
    }
  }

  /// Before the process is killed or ended: what breaks from now on was to be expected.
  func vacate() { state.withLock { $0.sitting = nil } }

  /// The load is over.
  func close() { resume { $0.isClosed = true } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  func isTaken(by generation: Int) -> Bool { state.withLock { $0.sitting?.generation == generation } }

  /// The next process after one; nil when the load is over.
  func next(after generation: Int) async -> Sitting? {
    while !Task.isCancelled {
      let (found, isClosed) = state.withLock { ($0.sitting, $0.isClosed) }
      if isClosed { return nil }
      if let found, found.generation > generation { return found }
      await change(since: generation)
    }
    return nil
  }

  private func change(since generation: Int) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDue = state.withLock { state in
          if state.isClosed || state.sitting.map({ $0.generation > generation }) ?? false { return true }
          state.waiting.append(continuation)
          return false
        }
        if isDue { continuation.resume() }
      }
    } onCancel: {
      close()
    }
  }

  private func resume(_ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// What was noticed on the way, and what the devices' networks told of themselves.
final class Findings: Sendable {
  private struct State {
    var faults: [String] = []
    /// Requests or answers lost and requests doubled, by process, as it last told.
    var networks: [String: (lost: Int, doubled: Int)] = [:]
  }

  private let state = Mutex(State())

  var faults: [String] { state.withLock { $0.faults } }

  func add(_ fault: String) { state.withLock { $0.faults.append(fault) } }

  func add(_ faults: [String]) { state.withLock { $0.faults += faults } }

  func note(network process: String, lost: Int, doubled: Int) {
    state.withLock { $0.networks[process] = (lost, doubled) }
  }

  /// What the dead last told is all that is known of them, so it is the least.
  var lost: Int { state.withLock { $0.networks.values.reduce(0) { $0 + $1.lost } } }
  var doubled: Int { state.withLock { $0.networks.values.reduce(0) { $0 + $1.doubled } } }
}
