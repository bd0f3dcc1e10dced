// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryMachine
import SkerryModel
import SkerryTesting
import Synchronization

/// A world's server behind a transport, and what a test wants to happen on the way.
final class Harbour: Transport {
  /// What becomes of a request.
  enum Weather: Sendable {
    case fair
    /// This comes back in place of the server's answer, which is not asked.
    case answers(TransportResponse)
    case fails(TransportError)
    /// Nothing comes back before the caller gives up.
    case silent
  }

  private struct State {
    var weather = Weather.fair
    var requests: [String] = []
    var atOnce = 0
    var mostAtOnce = 0
    var isHeld = false
    var held: [CheckedContinuation<Void, Never>] = []
    var waiters: [(count: Int, CheckedContinuation<Void, Never>)] = []
  }

  private let world: Mutex<World>
  private let state = Mutex(State())
  private let user: AccountID

  init(user: AccountID = "ana", schema: Schema = .library) throws {
    world = Mutex(try World(schema))
    self.user = user
  }

  /// The same world for another account.
  func withWorld<T: Sendable>(_ body: (World) throws -> T) rethrows -> T { try world.withLock { try body($0) } }

  func set(_ weather: Weather) { state.withLock { $0.weather = weather } }

  /// The paths that were asked for.
  var requests: [String] { state.withLock { $0.requests } }
  var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

  /// Requests wait from now on, until they are let go.
  func hold() { state.withLock { $0.isHeld = true } }

  func letGo() {
    let held = state.withLock { state in
      state.isHeld = false
      defer { state.held.removeAll() }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  /// Returns when so many requests have come.
  func requests(reach count: Int) async {
    await withCheckedContinuation { continuation in
      let isDue = state.withLock { state in
        if state.requests.count >= count { return true }
        state.waiters.append((count, continuation))
        return false
      }
      if isDue { continuation.resume() }
    }
  }

  func exchange(_ request: TransportRequest) async throws -> TransportResponse {
    let weather = note(request.path)
    defer { state.withLock { $0.atOnce -= 1 } }
    await waitWhileHeld()
    switch weather {
    case .fair: return world.withLock { $0.serve(request, as: user) }
    case .answers(let response): return response
    case .fails(let error): throw error
    case .silent:
      await Silence().wait()
      throw TransportError.cancelled
    }
  }

  private func note(_ path: String) -> Weather {
    let (weather, due) = state.withLock { state in
      state.requests.append(path)
      state.atOnce += 1
      state.mostAtOnce = max(state.mostAtOnce, state.atOnce)
      let due = state.waiters.filter { $0.count <= state.requests.count }
      state.waiters.removeAll { $0.count <= state.requests.count }
      return (state.weather, due)
    }
    for (_, continuation) in due { continuation.resume() }
    return weather
  }

  private func waitWhileHeld() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isHeld { state.held.append(continuation) }
        return !state.isHeld
      }
      if isFree { continuation.resume() }
    }
  }
}

/// Waits until the task is cancelled.
private final class Silence: Sendable {
  private enum State {
    case fresh
    case waiting(CheckedContinuation<Void, Never>)
    case over
  }
  private let state = Mutex(State.fresh)

  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if case .over = state { return true }
          state = .waiting(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
        defer { state = .over }
        if case .waiting(let continuation) = state { return continuation }
        return nil
      }
      waiter?.resume()
    }
  }
}
