// SPDX-License-Identifier: Apache-2.0

/// Sends the jobs of one device's tasks to the world's loop, which may hold them back.
final class Lane: TaskExecutor {
  let number: Int
  private let loop: WorldLoop

  init(_ loop: WorldLoop, number: Int) {
    self.loop = loop
    self.number = number
  }

  func enqueue(_ job: consuming ExecutorJob) { loop.add(.task(UnownedJob(job), self)) }
}

/// Sends an actor's jobs to the world's loop, which runs them whenever they come.
final class LoopExecutor: SerialExecutor {
  private let loop: WorldLoop

  init(_ loop: WorldLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) { loop.add(.actor(UnownedJob(job), self)) }
}
