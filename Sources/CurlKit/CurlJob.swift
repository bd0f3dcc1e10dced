// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One request and whoever waits for its response. The waiter is resumed exactly once: by the response or by the
/// cancellation, whichever comes first; what comes second is dropped.
final class CurlJob: Sendable {
  typealias Waiter = CheckedContinuation<Result<CurlResponse, CurlError>, Never>

  private struct State {
    var isCancelled = false
    var waiter: Waiter?
    /// At work on this; nil before and after.
    var handle: CurlHandle?
  }

  private let state = Mutex(State())
  private let request: CurlRequest
  private let limits: CurlLimits

  init(_ request: CurlRequest, limits: CurlLimits) {
    self.request = request
    self.limits = limits
  }

  private var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func wait(_ waiter: Waiter) {
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.waiter = waiter }
      return state.isCancelled
    }
    if isCancelled { waiter.resume(returning: .failure(.cancelled)) }
  }

  func cancel() {
    let (waiter, handle) = state.withLock { state in
      state.isCancelled = true
      defer { state.waiter = nil }
      return (state.waiter, state.handle)
    }
    waiter?.resume(returning: .failure(.cancelled))
    handle?.wake()
  }

  /// Carries out the request, on this thread, unless it was cancelled before.
  func run(on handle: CurlHandle) {
    let goes = state.withLock { state in
      if !state.isCancelled { state.handle = handle }
      return !state.isCancelled
    }
    guard goes else { return }
    let result = Result { () throws(CurlError) in
      try handle.perform(request, limits: limits) { isCancelled }
    }
    finish(result)
  }

  func finish(_ result: Result<CurlResponse, CurlError>) {
    let waiter = state.withLock { state in
      state.handle = nil
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: result)
  }
}
