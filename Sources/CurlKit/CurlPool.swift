// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A few handles, each with a queue of its own on which it blocks, so that no transfer holds a thread of Swift's
/// cooperative pool. Handles are made when needed; requests beyond their number wait in order.
package final class CurlPool: Sendable {
  private struct Worker: Sendable {
    let handle: CurlHandle
    let queue: DispatchQueue
  }

  private struct State {
    var idle: [Worker] = []
    var made = 0
    var waiting: [CurlJob] = []
  }

  private enum Choice {
    case work(Worker)
    case make(number: Int)
    case wait
  }

  private let size: Int
  private let state = Mutex(State())

  /// - Parameter size: How many transfers may be under way at one time.
  package init(size: Int = 4) { self.size = max(1, size) }

  /// Carries out a request and waits for its response, whatever its status.
  ///
  /// A cancelled task gets `CurlError.cancelled` at once, and the transfer is ended; the other side may have carried it out
  /// all the same.
  package func perform(_ request: CurlRequest, limits: CurlLimits) async throws(CurlError) -> CurlResponse {
    let job = CurlJob(request, limits: limits)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        job.wait(waiter)
        start(job)
      }
    } onCancel: {
      job.cancel()
    }
    return try result.get()
  }

  private func start(_ job: CurlJob) {
    switch state.withLock({ choose(&$0, for: job) }) {
    case .work(let worker): run(job, on: worker)
    case .make(let number):
      if let handle = CurlHandle() {
        run(job, on: Worker(handle: handle, queue: DispatchQueue(label: "skerry.curl.\(number)")))
      } else {
        state.withLock { $0.made -= 1 }
        job.finish(.failure(.broken("libcurl gives no handle")))
      }
    case .wait: break
    }
  }

  private func choose(_ state: inout State, for job: CurlJob) -> Choice {
    if let worker = state.idle.popLast() { return .work(worker) }  // the one used last: its connection is the freshest
    guard state.made < size else {
      state.waiting.append(job)
      return .wait
    }
    state.made += 1
    return .make(number: state.made)
  }

  private func run(_ job: CurlJob, on worker: Worker) {
    worker.queue.async { [self] in
      job.run(on: worker.handle)
      let next: CurlJob? = state.withLock { state in
        if state.waiting.isEmpty {
          state.idle.append(worker)
          return nil
        }
        return state.waiting.removeFirst()
      }
      if let next { run(next, on: worker) }
    }
  }
}
