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
  private let atWork = DispatchGroup()
  private let lanes: Lanes

  private struct State {
    var isStopping = false
    var handlers = 0
    var bodyBytes = 0
  }

  init(routes: HTTPRoutes, limits: HTTPLimits, lanes: Int, report: @escaping @Sendable (HTTPServerEvent) -> Void) {
    self.routes = routes
    self.limits = limits
    self.lanes = Lanes(count: lanes)
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
      atWork.enter()
      return true
    }
  }

  func handled() {
    state.withLock { $0.handlers -= 1 }
    atWork.leave()
  }

  /// Waits until no handler is at work, for as long as that takes.
  func waitForHandlers() { atWork.wait() }

  /// What a route's handler makes of a request.
  func carryOut(_ route: HTTPRoute, _ request: HTTPRequest) -> HTTPResponse {
    do throws(HTTPProblem) { return try guarding(request.head) { try route.handler(request) } } catch {
      return error.response
    }
  }

  /// The same on a thread aside; then wakes the connection.
  func carryOutAside(
    _ route: HTTPRoute, _ request: HTTPRequest, _ connection: Connection.Suspended, into answer: AsideAnswer
  ) {
    lanes.run { [self] in
      answer.set(carryOut(route, request))
      connection.resume()
      handled()
    }
  }

  /// Turns what a closure of the owner throws into what a stranger may read.
  func guarding<R>(_ head: HTTPHead, _ closure: () throws -> R) throws(HTTPProblem) -> R {
    do { return try closure() } catch let problem as HTTPProblem { throw problem } catch {
      report(.handlerFailed(method: head.method, path: head.path, error))
      throw .failure
    }
  }

  func leave() { underWay.leave() }

  /// Counts bytes of a body in, unless there are too many under way.
  func hold(_ count: Int) -> Bool {
    state.withLock { state in
      guard count <= limits.bodyBytesInAll - state.bodyBytes else { return false }
      state.bodyBytes += count
      return true
    }
  }

  /// Counts them out.
  func release(_ count: Int) { state.withLock { $0.bodyBytes -= count } }

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
