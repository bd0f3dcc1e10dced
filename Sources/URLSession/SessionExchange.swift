// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryMachine
import SkerryTransport
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One exchange and whoever waits for its answer. The waiter is resumed exactly once: by the answer, a time limit or the
/// cancellation, whichever comes first. What the session reports after that is dropped, so it does not matter when, or
/// whether, the session itself ends the task.
///
/// It may be told things from any thread; the session tells it in order.
final class SessionExchange: Sendable {
  typealias Outcome = Result<SessionAnswer, TransportError>
  typealias Waiter = CheckedContinuation<Outcome, Never>

  private struct State {
    var waiter: Waiter?
    var left: (@Sendable () -> Void)?
    var isStarted = false
    var isOver = false
    var task: URLSessionTask?
    var reception: Reception
  }

  private let state: Mutex<State>
  private let total: PhaseTimer
  private let phase: PhaseTimer
  private let options: HTTPTransportOptions

  init(bytesToSend: Int, options: HTTPTransportOptions) {
    self.options = options
    state = Mutex(State(reception: Reception(bytesToSend: bytesToSend, options: options)))
    total = PhaseTimer()
    phase = PhaseTimer()
  }

  /// - Parameter left: Called once, when the exchange is over and was started.
  func wait(_ waiter: Waiter, left: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if !state.isOver { (state.waiter, state.left) = (waiter, left) }
      return state.isOver
    }
    if isOver { waiter.resume(returning: .failure(.cancelled)) }
  }

  /// Its turn has come.
  ///
  /// - Parameter make: Makes the task, which is not running yet.
  /// - Returns: false if the exchange was over before; nothing is sent then.
  func start(_ make: () -> URLSessionTask) -> Bool {
    let task: URLSessionTask? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isStarted = true
      let task = make()
      state.task = task
      return task
    }
    guard let task else { return false }
    total.start(milliseconds: options.total) { [weak self] in self?.finish(.failure(.timedOut("total"))) }
    move { $0.begin() }
    task.resume()
    return true
  }

  /// Lets the reception take in a piece of news, and ends the exchange if that is how it ends.
  func move(_ news: @Sendable (inout Reception) throws(TransportError) -> Void) {
    let (error, due) = state.withLock { state -> (TransportError?, Reception.Due?) in
      guard !state.isOver else { return (nil, nil) }
      do throws(TransportError) { try news(&state.reception) } catch { return (error, nil) }
      return (nil, state.reception.due)
    }
    if let error { finish(.failure(error)) }
    guard let due else { return }
    phase.start(milliseconds: due.milliseconds) { [weak self] in self?.finish(.failure(.timedOut(due.phase))) }
  }

  /// The session says that nothing more will come.
  func end(_ error: (any Error)?) { finish(state.withLock { $0.reception.outcome(error) }) }

  /// Resumes the waiter, unless somebody was faster, and gives the task up.
  func finish(_ outcome: Outcome) {
    let (waiter, left, task) = state.withLock { state in
      state.isOver = true
      defer { (state.waiter, state.left, state.task) = (nil, nil, nil) }
      return (state.waiter, state.isStarted ? state.left : nil, state.task)
    }
    waiter?.resume(returning: outcome)
    total.stop()
    phase.stop()
    task?.cancel()
    left?()
  }
}
