// SPDX-License-Identifier: Apache-2.0
package import SkerryModel

/// Which entries travel together: whole batches as long as they pass, single entries after several whole-batch failures, and
/// an entry that fails alone while others pass is set aside.
///
/// A refusal of the network is no failure in this sense: without an answer nothing is known about an entry.
package struct PushPlan: Hashable, Sendable {
  private enum Mode: Hashable, Sendable {
    case batch(failures: Int)
    /// `passed` counts the entries that were judged since single sends began.
    case single(passed: Int, failures: [MutationID: Int])
  }

  private var mode = Mode.batch(failures: 0)
  private var limit: Int
  private let fullLimit: Int
  /// Whole-batch failures before entries are sent singly, and single failures before an entry is set aside.
  package static let patience = 3

  package init(limit: Int) {
    self.limit = limit
    fullLimit = limit
  }

  /// The entries to offer now, out of those that are ready, in their order.
  package func next(of ready: [MutationID]) -> [MutationID] {
    guard case .single(_, let failures) = mode else { return Array(ready.prefix(limit)) }
    // The one that failed least goes first, so that one bad entry does not hold up the others.
    let candidate = ready.min { failures[$0, default: 0] < failures[$1, default: 0] }
    return candidate.map { [$0] } ?? []
  }

  /// The server judged what was offered.
  package mutating func batchJudged(_ ids: [MutationID], allReady: Int) {
    switch mode {
    case .batch:
      mode = .batch(failures: 0)
      limit = min(fullLimit, max(limit * 2, 1))
    case .single(let passed, var failures):
      for id in ids { failures[id] = nil }
      // With everything judged there is nothing left to be careful about.
      mode = allReady <= ids.count ? .batch(failures: 0) : .single(passed: passed + ids.count, failures: failures)
    }
  }

  /// The request was longer than the server takes.
  ///
  /// - Returns: the entry to set aside, if it was offered alone.
  package mutating func requestTooLarge(_ ids: [MutationID]) -> MutationID? {
    if ids.count == 1 { return ids.first }
    limit = max(1, ids.count / 2)
    return nil
  }

  /// Something answered, and it was no judgement.
  ///
  /// - Returns: the entry to set aside, if one is.
  package mutating func batchFailed(_ ids: [MutationID]) -> MutationID? {
    switch mode {
    case .batch(let failures):
      mode = failures + 1 >= PushPlan.patience ? .single(passed: 0, failures: [:]) : .batch(failures: failures + 1)
      return nil
    case .single(let passed, var failures):
      guard let id = ids.first else { return nil }
      failures[id, default: 0] += 1
      mode = .single(passed: passed, failures: failures)
      guard passed > 0, failures[id, default: 0] >= PushPlan.patience else { return nil }
      failures[id] = nil
      mode = .single(passed: passed, failures: failures)
      return id
    }
  }

  /// Whether entries are being sent singly.
  package var isSingle: Bool { if case .single = mode { true } else { false } }
}
