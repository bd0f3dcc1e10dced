// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryMachine
import Synchronization

/// A transport that loses, doubles, delays and garbles what a real one carries, by chance or as told.
final class FaultyNetwork: Transport {
  /// What can happen to one exchange.
  enum Fault: String, CaseIterable, Sendable {
    /// The request never arrives.
    case dropRequest
    /// The request is carried out, and nobody hears of it.
    case dropAnswer
    /// The request arrives twice; the first answer is lost.
    case duplicate
    /// The answer comes late.
    case delay
    /// Some bytes of the answer are others.
    case garble
  }

  struct Settings: Sendable, Equatable {
    /// Airplane mode: nothing goes out.
    var isOffline = false
    /// The probability of each fault, from 0 to 1; each exchange meets one at most.
    var chances: [Fault: Double] = [:]
    /// What the next exchanges meet, one each, before chance decides again.
    var next: [Fault] = []
    /// How late a delayed answer is.
    var delayMilliseconds: Int64 = 300
  }

  struct Counts: Sendable, Equatable {
    /// Requests that the engine made.
    var exchanges = 0
    var faults: [Fault: Int] = [:]
  }

  private struct State {
    var settings = Settings()
    var counts = Counts()
    var generator: SeededGenerator
  }

  private let base: any Transport
  private let clock: any Clock<Duration>
  private let state: Mutex<State>

  /// - Parameter seed: decides what chance does.
  init(_ base: any Transport, seed: UInt64, clock: any Clock<Duration> = SystemAmbient.clock) {
    self.base = base
    self.clock = clock
    state = Mutex(State(generator: SeededGenerator(seed: seed)))
  }

  var settings: Settings {
    get { state.withLock { $0.settings } }
    set { state.withLock { $0.settings = newValue } }
  }

  /// Changes the settings in one step, while exchanges may be drawing on them; an error changes nothing.
  func change(_ edit: (inout Settings) throws -> Void) throws {
    try state.withLock { state in
      var settings = state.settings
      try edit(&settings)
      state.settings = settings
    }
  }

  var counts: Counts { state.withLock { $0.counts } }

  func exchange(_ request: TransportRequest) async throws -> TransportResponse {
    let (fault, delay) = try draw()
    if fault == .dropRequest { throw TransportError.timedOut("the request was dropped on purpose") }
    if fault == .duplicate { _ = try await base.exchange(request) }
    var response = try await base.exchange(request)
    switch fault {
    case .dropAnswer: throw TransportError.broken("the answer was dropped on purpose")
    case .delay: try await clock.sleep(for: .milliseconds(delay))
    case .garble: garble(&response)
    case .dropRequest, .duplicate, nil: break
    }
    return response
  }

  /// What this exchange meets.
  private func draw() throws(TransportError) -> (Fault?, delay: Int64) {
    let drawn: (fault: Fault?, delay: Int64)? = state.withLock { state in
      if state.settings.isOffline { return nil }
      state.counts.exchanges += 1
      var fault: Fault?
      if !state.settings.next.isEmpty {
        fault = state.settings.next.removeFirst()
      } else {
        for kind in Fault.allCases {
          if state.generator.chance(state.settings.chances[kind] ?? 0) { fault = fault ?? kind }
        }
      }
      if let fault { state.counts.faults[fault, default: 0] += 1 }
      return (fault, state.settings.delayMilliseconds)
    }
    guard let drawn else { throw .unreachable("airplane mode") }
    return drawn
  }

  private func garble(_ response: inout TransportResponse) {
    state.withLock { state in
      for _ in 0..<8 {
        guard let place = state.generator.pick(response.body.indices) else { return }
        response.body[place] ^= UInt8(truncatingIfNeeded: state.generator.next() | 1)
      }
    }
  }
}
