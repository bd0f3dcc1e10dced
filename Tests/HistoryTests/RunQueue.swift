// SPDX-License-Identifier: Apache-2.0

import SkerryServerCore
import Synchronization

/// The sequencer runs that a history expects, in order. A run must consist of exactly the expected steps, the moves of members
/// first and every leave behind the enters. Otherwise their order is free, and the model shuffles it on purpose, so the
/// implementation is given the model's order.
final class RunQueue: Sendable {
  private let state = Mutex<(expected: [[RunStep]], failure: String?)>(([], nil))

  func expect(_ runs: [[RunStep]]) { state.withLock { $0.expected = runs } }

  /// Called by the server for each run.
  func arrange(_ steps: [RunStep]) -> [RunStep] {
    state.withLock { state in
      if steps.isEmpty { return steps }  // the histories tell of runs with entries only
      guard !state.expected.isEmpty else {
        state.failure = state.failure ?? "a run that is not expected: \(RunQueue.text(steps))"
        return steps
      }
      let wanted = state.expected.removeFirst()
      if wanted.map(RunQueue.part) == steps.map(RunQueue.part), Set(wanted) == Set(steps) { return wanted }
      state.failure =
        state.failure ?? "a run differs:\n  expected \(RunQueue.text(wanted))\n  found    \(RunQueue.text(steps))"
      return steps
    }
  }

  func checkEmpty() throws {
    try state.withLock { state in
      if let failure = state.failure { throw Difference(failure) }
      if !state.expected.isEmpty { throw Difference("runs are missing: \(state.expected.map(RunQueue.text))") }
    }
  }

  /// Members, enters, leaves: the order of these is a rule.
  private static func part(_ step: RunStep) -> Int {
    switch step {
    case .member: 0
    case .entry(_, _, let kind): kind == .live ? 1 : 2
    }
  }

  private static func text(_ steps: [RunStep]) -> [String] { steps.map { "\($0)" }.sorted() }
}
