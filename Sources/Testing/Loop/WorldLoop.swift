// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SkerryAmbientKit
import Synchronization

/// Where all work of a test's world is done: one job at a time on one queue, and timers in virtual time.
///
/// Time passes only while somebody drives, and only when nothing is ready; it then jumps to the next timer. Engines in the
/// background run only while somebody drives. So what happens is decided by the order of the test's own calls.
// The queue's block retains the loop; lanes and executors are retained by the work that waits for them.
final class WorldLoop: Sendable {
  /// Something that is ready to run.
  enum Work: Sendable {
    case task(UnownedJob, Lane)
    case actor(UnownedJob, LoopExecutor)
  }

  private struct Timer {
    let at: Int64
    let number: Int
    /// Whether time may pass for it though nobody drives.
    let drives: Bool
    /// What waits for it, in words for somebody who has forgotten it; nil for what ends by itself.
    let what: String?
    let action: @Sendable () -> Void
  }

  private enum Step {
    case work(Work)
    case timer(@Sendable () -> Void)
    case ended(CheckedContinuation<Void, Never>)
  }

  private struct State {
    var ready: [Work] = []
    var timers: [Timer] = []
    var drivers: [Int: CheckedContinuation<Void, Never>] = [:]
    var ended: [Int] = []
    /// The lanes of engines in the background.
    var background: Set<Int> = []
    var count = 0
    /// While a drive begins, nothing runs: its first job and its right to let time pass come together.
    var pauses = 0
    var isRunning = false

    var isDriven: Bool { !drivers.isEmpty || timers.contains { $0.drives } }

    mutating func number() -> Int {
      count += 1
      return count
    }

    func mayRun(_ work: Work) -> Bool {
      guard case .task(_, let lane) = work else { return true }
      return !background.contains(lane.number) || isDriven
    }
  }

  let time: VirtualTime
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "skerry.testing")

  init(_ time: VirtualTime) { self.time = time }

  func makeLane() -> Lane { Lane(self, number: state.withLock { $0.number() }) }

  func setBackground(_ isBackground: Bool, _ lane: Lane) {
    state.withLock { state in
      if isBackground { state.background.insert(lane.number) } else { state.background.remove(lane.number) }
    }
    wake()
  }

  func add(_ work: Work) {
    state.withLock { $0.ready.append(work) }
    wake()
  }

  // MARK: Timers

  /// Does something at a time, or as soon as may be if it has passed.
  ///
  /// - Parameter drives: time passes for it even if nobody drives.
  /// - Returns: a number to cancel it by.
  @discardableResult
  func at(
    _ time: Int64, drives: Bool = false, what: String? = nil, _ action: @escaping @Sendable () -> Void
  ) -> Int {
    let number = state.withLock { state in
      let timer = Timer(at: time, number: state.number(), drives: drives, what: what, action: action)
      let place = state.timers.lastIndex { $0.at <= time }.map { $0 + 1 } ?? 0
      state.timers.insert(timer, at: place)
      return timer.number
    }
    wake()
    return number
  }

  /// What still waits for a time to come.
  var waiting: [String] { state.withLock { $0.timers.compactMap(\.what) } }

  func cancel(_ timer: Int) { state.withLock { $0.timers.removeAll { $0.number == timer } } }

  /// Waits until a time.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before.
  func sleep(until deadline: Int64, drives: Bool = false, what: String? = nil) async throws {
    let waiter = OneShot<Void>()
    let timer = at(deadline, drives: drives, what: what) {
      waiter.end(.success(()))
    }
    defer { cancel(timer) }
    try await withTaskCancellationHandler {
      try await waiter.wait()
    } onCancel: {
      waiter.end(.failure(CancellationError()))
    }
  }

  // MARK: Driving

  /// Lets time pass until what `begin` starts has said that it is done, and nothing more is ready.
  func drive(_ begin: (_ end: @escaping @Sendable () -> Void) -> Void) async {
    await withCheckedContinuation { continuation in
      let number = state.withLock { state in
        let number = state.number()
        state.drivers[number] = continuation
        state.pauses += 1
        return number
      }
      begin { self.state.withLock { $0.ended.append(number) } }
      state.withLock { $0.pauses -= 1 }
      wake()
    }
  }

  /// Runs a task on a lane to its end.
  func run<T: Sendable>(on lane: Lane, _ body: @escaping @Sendable () async throws -> T) async throws -> T {
    let task = Mutex<Task<T, any Error>?>(nil)
    await drive { end in
      let started = Task(executorPreference: lane) {
        defer { end() }
        return try await body()
      }
      task.withLock { $0 = started }
    }
    guard let started = task.withLock({ $0 }) else { throw CancellationError() }
    return try await started.value
  }

  // MARK: Running

  private func wake() {
    let isDue = state.withLock { state in
      if state.isRunning || state.pauses > 0 { return false }
      state.isRunning = true
      return true
    }
    if isDue { queue.async { self.work() } }
  }

  private func work() {
    while let step = next() {
      switch step {
      case .work(.task(let job, let lane)): job.runSynchronously(on: lane.asUnownedTaskExecutor())
      case .work(.actor(let job, let executor)): job.runSynchronously(on: executor.asUnownedSerialExecutor())
      case .timer(let action): action()
      case .ended(let continuation): continuation.resume()
      }
    }
  }

  private func next() -> Step? {
    state.withLock { state in
      if state.pauses > 0 {
        state.isRunning = false
        return nil
      }
      if let index = state.ready.firstIndex(where: state.mayRun) { return .work(state.ready.remove(at: index)) }
      while let number = state.ended.first {
        state.ended.removeFirst()
        if let continuation = state.drivers.removeValue(forKey: number) { return .ended(continuation) }
      }
      guard state.isDriven, let timer = state.timers.first else {
        state.isRunning = false
        return nil
      }
      state.timers.removeFirst()
      time.now = max(time.now, timer.at)
      return .timer(timer.action)
    }
  }
}
