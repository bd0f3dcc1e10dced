// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// What all threads of one server share: its routes and limits, and which requests are under way.
final class ServerContext: Sendable {
  let routes: HTTPRoutes
  let limits: HTTPLimits
  let watch: ConnectionWatch
  let report: @Sendable (HTTPServerEvent) -> Void
  private let state = Mutex(State())
  private let underWay = DispatchGroup()

  private struct State {
    var isStopping = false
    var handlers = 0
  }

  init(routes: HTTPRoutes, limits: HTTPLimits, report: @escaping @Sendable (HTTPServerEvent) -> Void) {
    self.routes = routes
    self.limits = limits
    self.watch = ConnectionWatch(limits: limits)
    self.report = report
  }

  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Counts a request in whose handler is to run, unless the server is stopping. Each one let in is `handled` once and
  /// then leaves once, when its answer was sent or lost.
  func enter() -> Bool {
    state.withLock { state in
      guard !state.isStopping else { return false }
      state.handlers += 1
      underWay.enter()
      return true
    }
  }

  func handled() { state.withLock { $0.handlers -= 1 } }

  func leave() { underWay.leave() }

  enum Drain {
    case finished
    /// Answers are still on their way.
    case unsent
    /// Handlers are still at work; their threads cannot be ended.
    case atWork
  }

  /// Lets nobody in any more and waits for those who are in.
  func drain(milliseconds: Int) -> Drain {
    state.withLock { $0.isStopping = true }
    if underWay.wait(timeout: .now() + .milliseconds(milliseconds)) == .success { return .finished }
    return state.withLock { $0.handlers } == 0 ? .unsent : .atWork
  }
}
