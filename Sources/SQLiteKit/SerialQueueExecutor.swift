// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// An actor's executor over a queue of its own, so that a blocking call into SQLite never holds a thread of the
/// cooperative pool. Linux has no `DispatchSerialQueue`, hence this.
public final class SerialQueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// Makes a queue with this label.
  public init(label: String) { queue = DispatchQueue(label: label) }

  /// Runs a job on the queue.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }

  /// Runs a closure on the queue, without blocking the caller's thread.
  public func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: body)) }
    }
  }

  /// This executor.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
