// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// Which entries travel together: whole batches as long as they pass, single entries after several whole-batch failures, and
/// an entry that fails alone while others pass is set aside.
///
/// A refusal of the network is no failure in this sense: without an answer nothing is known about an entry.
package struct PushPlan: Hashable, Sendable {
  private enum Mode: Hashable, Sendable {
    case batch(failures: Int)
    case single(Singles)
  }

  /// What is known of the entries since single sends began.
  private struct Singles: Hashable, Sendable {
    /// How many were judged.
    var passed = 0
    /// How often each was offered: the one offered least goes next, so that neither a bad entry nor one that waits for
    /// another holds up the others.
    var turns: [MutationID: Int] = [:]
    var failures: [MutationID: Int] = [:]
    /// Those that failed since one passed: if there are several, the server fails, and not an entry.
    var suspects: Set<MutationID> = []
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
  package mutating func next(of ready: [MutationID]) -> [MutationID] {
    guard case .single(var singles) = mode else { return Array(ready.prefix(limit)) }
    let candidate = ready.min { singles.turns[$0, default: 0] < singles.turns[$1, default: 0] }
    guard let candidate else { return [] }
    singles.turns[candidate, default: 0] += 1
    mode = .single(singles)
    return [candidate]
  }

  /// The server judged what was offered.
  package mutating func batchJudged(_ ids: [MutationID], allReady: Int) {
    switch mode {
    case .batch:
      mode = .batch(failures: 0)
      limit = min(fullLimit, max(limit * 2, 1))
    case .single(var singles):
      for id in ids { (singles.failures[id], singles.turns[id]) = (nil, nil) }
      singles.passed += ids.count
      singles.suspects.removeAll()
      // With everything judged there is nothing left to be careful about.
      mode = allReady <= ids.count ? .batch(failures: 0) : .single(singles)
    }
  }

  /// The request was longer than the server takes.
  ///
  /// - Returns: the entry to set aside, if it was offered alone.
  package mutating func requestTooLarge(_ ids: [MutationID]) -> MutationID? {
    if ids.count == 1 {
      if let id = ids.first { forget(id) }
      return ids.first
    }
    limit = max(1, ids.count / 2)
    return nil
  }

  /// Something answered, and it was no judgement.
  ///
  /// - Returns: the entry to set aside, if one is.
  package mutating func batchFailed(_ ids: [MutationID]) -> MutationID? {
    switch mode {
    case .batch(let failures):
      mode = failures + 1 >= PushPlan.patience ? .single(Singles()) : .batch(failures: failures + 1)
      return nil
    case .single(var singles):
      guard let id = ids.first else { return nil }
      singles.failures[id, default: 0] += 1
      singles.suspects.insert(id)
      mode = .single(singles)
      guard singles.passed > 0, singles.suspects.count == 1, singles.failures[id, default: 0] >= PushPlan.patience
      else { return nil }
      forget(id)
      return id
    }
  }

  /// An entry that was set aside is no suspect any more, and begins anew when a person offers it again.
  private mutating func forget(_ id: MutationID) {
    guard case .single(var singles) = mode else { return }
    (singles.failures[id], singles.turns[id]) = (nil, nil)
    singles.suspects.remove(id)
    mode = .single(singles)
  }

  /// Whether entries are being sent singly.
  package var isSingle: Bool { if case .single = mode { true } else { false } }
}
