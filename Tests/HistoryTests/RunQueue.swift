// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore
import Synchronization

/// The sequencer runs that a history expects, in order. A run must consist of exactly the expected steps; their order within
/// it is free, and the model shuffles it on purpose, so the implementation is given the model's order.
final class RunQueue: Sendable {
  private let state = Mutex<(expected: [[String]], names: Names, failure: String?)>(([], Names(), nil))

  func expect(_ runs: [[[Any]]], _ names: Names) throws {
    state.withLock {
      $0.expected = runs.map { $0.map { $0.map { step in "\(step)" }.joined(separator: " ") } }
      $0.names = names
    }
  }

  /// Called by the server for each run.
  func arrange(_ steps: [RunStep]) -> [RunStep] {
    state.withLock { state in
      if steps.isEmpty { return steps }  // the histories tell of runs with entries only
      guard !state.expected.isEmpty else {
        state.failure = state.failure ?? "a run that is not expected: \(steps.map { describe($0, state.names) })"
        return steps
      }
      let wanted = state.expected.removeFirst()
      let found = Dictionary(steps.map { (describe($0, state.names), $0) }) { first, _ in first }
      let ordered = wanted.compactMap { found[$0] }
      if ordered.count != steps.count || wanted.count != steps.count {
        state.failure =
          state.failure ?? "a run differs:\n  expected \(wanted.sorted())\n  found    \(found.keys.sorted())"
        return steps
      }
      return ordered
    }
  }

  func checkEmpty() throws {
    try state.withLock { state in
      if let failure = state.failure { throw Difference(failure) }
      if !state.expected.isEmpty { throw Difference("a run is missing: \(state.expected)") }
    }
  }

  private func describe(_ step: RunStep, _ names: Names) -> String {
    switch step {
    case .member(let membership, let isInside):
      "member \(membership.user) \(membership.space) \(isInside ? 1 : 0)"
    case .entry(let space, .row(let key), let kind):
      "\(kind) \(names.name(space)) \(key.table) \(key.values.first?.text ?? "")"
    case .entry(let space, .receipt(let key), _):
      "live \(names.name(space)) $receipt \(key.user)/\(names.name(key.mutation))"
    }
  }
}
