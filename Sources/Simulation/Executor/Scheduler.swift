// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit

/// The one thread of a simulation: ready jobs of Swift's runtime, timers in virtual time, and a tape that picks what is next.
///
/// Jobs are never run where they are enqueued, so every order in which a set of ready jobs can run is one that the tape can
/// pick. Time passes only when nothing is ready, and then jumps to the next timer.
// Unchecked: a simulation runs on one thread, and this is what keeps it there.
package final class Scheduler: @unchecked Sendable {
  private enum Work {
    case task(UnownedJob)
    case actor(UnownedJob, UnownedSerialExecutor)
  }

  private struct Timer {
    let at: Int64
    let number: Int
    let action: () -> Void
  }

  private var ready: [Work] = []
  private var timers: [Timer] = []
  private var cancelled: Set<Int> = []
  private var timerNumber = 0
  private var tape: SeededGenerator
  /// Milliseconds since 1970 by the world's own clock, which no node can read: each has a clock of its own.
  package private(set) var now: Int64
  /// Jobs that were run.
  package private(set) var steps = 0
  /// Whether ready jobs are run in the order in which they came.
  package var isOrderly = false
  /// Called after each job and each timer; false ends the run.
  package var afterStep: () -> Bool = { true }
  package private(set) lazy var taskExecutor = SeededTaskExecutor(self)

  package init(seed: UInt64, now: Int64 = 1_800_000_000_000) {
    tape = SeededGenerator(seed: seed)
    self.now = now
  }

  /// An executor for one actor.
  package func makeActorExecutor() -> SeededActorExecutor { SeededActorExecutor(self) }

  fileprivate func add(_ job: UnownedJob) { ready.append(.task(job)) }
  fileprivate func add(_ job: UnownedJob, _ executor: UnownedSerialExecutor) { ready.append(.actor(job, executor)) }

  /// Does something at a time, or as soon as may be if it has passed.
  ///
  /// - Returns: a number to cancel it by.
  @discardableResult
  package func at(_ time: Int64, _ action: @escaping () -> Void) -> Int {
    timerNumber += 1
    push(Timer(at: max(time, now), number: timerNumber, action: action))
    return timerNumber
  }

  @discardableResult
  package func after(_ milliseconds: Int64, _ action: @escaping () -> Void) -> Int { at(now + milliseconds, action) }

  package func cancel(_ timer: Int) { cancelled.insert(timer) }

  /// Starts a task whose jobs all run here.
  @discardableResult
  package func spawn(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: taskExecutor) { await body() }
  }

  /// Runs what is ready and due until a time; the clock then shows that time.
  package func run(until limit: Int64) {
    while true {
      if !ready.isEmpty {
        runOne()
      } else if let next = timers.first, next.at <= limit {
        _ = pop()
        if cancelled.remove(next.number) != nil { continue }
        now = max(now, next.at)
        next.action()
      } else {
        now = max(now, limit)
        return
      }
      if !afterStep() { return }
    }
  }

  /// Runs what is ready, without letting time pass.
  package func drain() {
    while !ready.isEmpty {
      runOne()
      if !afterStep() { return }
    }
  }

  private func runOne() {
    // One draw for each choice among several: a single ready job uses none, so that tapes stay in step.
    let index = ready.count == 1 || isOrderly ? 0 : Int(tape.next() % UInt64(ready.count))
    let work = ready.remove(at: index)
    steps += 1
    switch work {
    case .task(let job): job.runSynchronously(on: taskExecutor.asUnownedTaskExecutor())
    case .actor(let job, let executor):
      job.runSynchronously(isolatedTo: executor, taskExecutor: taskExecutor.asUnownedTaskExecutor())
    }
  }

  // MARK: Timers, as a binary heap by time and number

  private func isBefore(_ a: Timer, _ b: Timer) -> Bool { a.at == b.at ? a.number < b.number : a.at < b.at }

  private func push(_ timer: Timer) {
    timers.append(timer)
    var index = timers.count - 1
    while index > 0, isBefore(timers[index], timers[(index - 1) / 2]) {
      timers.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private func pop() -> Timer {
    let first = timers[0]
    let last = timers.removeLast()
    if !timers.isEmpty {
      timers[0] = last
      sink()
    }
    return first
  }

  private func sink() {
    var index = 0
    while true {
      let (left, right) = (2 * index + 1, 2 * index + 2)
      var least = index
      if left < timers.count, isBefore(timers[left], timers[least]) { least = left }
      if right < timers.count, isBefore(timers[right], timers[least]) { least = right }
      if least == index { return }
      timers.swapAt(index, least)
      index = least
    }
  }
}

/// Sends a task's jobs to the scheduler.
package final class SeededTaskExecutor: TaskExecutor {
  private unowned let scheduler: Scheduler

  fileprivate init(_ scheduler: Scheduler) { self.scheduler = scheduler }

  /// Adds a job to those that are ready.
  package func enqueue(_ job: consuming ExecutorJob) { scheduler.add(UnownedJob(job)) }
}

/// Sends an actor's jobs to the scheduler.
package final class SeededActorExecutor: SerialExecutor {
  private unowned let scheduler: Scheduler

  fileprivate init(_ scheduler: Scheduler) { self.scheduler = scheduler }

  /// Adds a job to those that are ready.
  package func enqueue(_ job: consuming ExecutorJob) {
    scheduler.add(UnownedJob(job), asUnownedSerialExecutor())
  }

  /// Everything here is on one thread, so whoever asks between two jobs is alone with the actor.
  package func checkIsolated() {}
}
