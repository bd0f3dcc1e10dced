// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// Which entries travel together: batches as long as they pass, smaller ones after those that do not, and with care once a
/// single entry did not pass. An entry that fails alone while others pass is set aside.
///
/// A refusal of the network is no failure in this sense: without an answer nothing is known about an entry. It may still be
/// the size that does not get through.
package struct PushPlan: Hashable, Sendable {
  private enum Mode: Hashable, Sendable {
    case batch(failures: Int)
    case careful(Care)
  }

  /// What is known of the entries since a single one did not pass.
  private struct Care: Hashable, Sendable {
    /// How many were judged.
    var passed = 0
    /// How often each was offered: the one offered least goes next, so that neither a bad entry nor one that waits for
    /// another holds up the others.
    var turns: [MutationID: Int] = [:]
    /// How often each failed alone. One that did is offered alone.
    var failures: [MutationID: Int] = [:]
    /// Those that failed since one passed: if there are several, the server fails, and not an entry.
    var suspects: Set<MutationID> = []
    /// What each entry waits for, asked once: what an entry leans on was made before it.
    var predecessors: [MutationID: [MutationID]] = [:]

    /// New entries take their turn behind those that are there: what an older one was offered in vain must not let them,
    /// which may lean on it, go before it time and again.
    mutating func admit(_ ready: [MutationID]) {
      let floor = ready.compactMap { turns[$0] }.min() ?? 0
      for id in ready where turns[id] == nil { turns[id] = floor }
    }

    /// Lets nothing go before what it waits for: the server could only say so, and a round would be lost each time. What is
    /// waited for comes earlier among those that are ready, so that one pass reaches all.
    mutating func lineUp(_ ready: [MutationID], _ after: (MutationID) throws -> [MutationID]) rethrows {
      var passed: Set<MutationID> = []
      for id in ready {
        let waitsFor = try predecessors[id] ?? after(id)
        predecessors[id] = waitsFor
        for earlier in waitsFor where passed.contains(earlier) {
          turns[id] = max(turns[id, default: 0], turns[earlier, default: 0])
        }
        passed.insert(id)
      }
    }

    /// An entry was judged, or is no longer offered.
    mutating func forget(_ id: MutationID) { (failures[id], turns[id], predecessors[id]) = (nil, nil, nil) }
  }

  private var mode = Mode.batch(failures: 0)
  private let fullLimit: Int
  /// The most entries of the next batch.
  private var limit: Int
  /// Up to here the limit doubles with each batch that passes: a larger one did not pass.
  private var known: Int
  /// Full batches that passed at that size.
  private var passes = 0
  /// Failures before entries are looked at singly, and single failures before an entry is set aside.
  package static let patience = 3
  /// Full batches that pass before one of twice the size is tried again after it did not pass.
  package static let probation = 4

  package init(limit: Int) {
    self.limit = limit
    fullLimit = limit
    known = limit
  }

  /// The entries to offer now, out of those that are ready, in their order.
  ///
  /// - Parameter after: the entries that one must wait for; asked only while the plan is careful, and once for each.
  package mutating func next(
    of ready: [MutationID], after: (MutationID) throws -> [MutationID]
  ) rethrows -> [MutationID] {
    guard case .careful(var care) = mode else { return Array(ready.prefix(limit)) }
    care.admit(ready)
    try care.lineUp(ready, after)
    let candidate = ready.min { care.turns[$0, default: 0] < care.turns[$1, default: 0] }
    guard let candidate else { return [] }
    var offer = [candidate]
    if care.failures[candidate] == nil {
      let turn = care.turns[candidate, default: 0]
      let equal = ready.lazy.filter { care.failures[$0] == nil && care.turns[$0, default: 0] == turn }
      offer = Array(equal.prefix(limit))
    }
    for id in offer { care.turns[id, default: 0] += 1 }
    mode = .careful(care)
    return offer
  }

  /// The server judged what was offered.
  package mutating func batchJudged(_ ids: [MutationID], allReady: Int) {
    if ids.count >= limit { grow() }
    switch mode {
    case .batch: mode = .batch(failures: 0)
    case .careful(var care):
      for id in ids { care.forget(id) }
      care.passed += ids.count
      care.suspects.removeAll()
      mode = .careful(care)
      // With everything judged there is nothing left to be careful about.
      if allReady <= ids.count { (mode, limit, known, passes) = (.batch(failures: 0), fullLimit, fullLimit, 0) }
    }
  }

  /// The request was longer than the server takes.
  ///
  /// - Returns: the entry to set aside, if it was offered alone.
  package mutating func requestTooLarge(_ ids: [MutationID]) -> MutationID? {
    if ids.count == 1 {
      // It was this one, and not the number.
      known = fullLimit
      if let id = ids.first { forget(id) }
      return ids.first
    }
    shrink(to: ids.count / 2)
    return nil
  }

  /// The line broke over a push, and others pass: maybe it is too long for what is on the way.
  package mutating func lineBroke(_ ids: [MutationID]) { if ids.count > 1 { shrink(to: ids.count / 4) } }

  /// Something answered, and it was no judgement. Its size may be the reason, so the next batch is a quarter of it.
  ///
  /// - Returns: the entry to set aside, if one is.
  package mutating func batchFailed(_ ids: [MutationID]) -> MutationID? {
    if ids.count > 1 { shrink(to: ids.count / 4) }
    switch mode {
    case .batch(let failures):
      let isEnough = failures + 1 >= PushPlan.patience && ids.count == 1
      mode = isEnough ? .careful(Care()) : .batch(failures: failures + 1)
      return nil
    case .careful(var care):
      guard ids.count == 1, let id = ids.first else { return nil }
      care.failures[id, default: 0] += 1
      care.suspects.insert(id)
      mode = .careful(care)
      guard care.passed > 0, care.suspects.count == 1, care.failures[id, default: 0] >= PushPlan.patience
      else { return nil }
      forget(id)
      return id
    }
  }

  private mutating func shrink(to count: Int) {
    limit = max(1, count)
    known = limit
    passes = 0
  }

  private mutating func grow() {
    if limit >= known {
      passes += 1
      guard passes >= PushPlan.probation else { return }
      passes = 0
      known = min(fullLimit, known * 2)
    }
    limit = min(known, limit * 2)
  }

  /// An entry that was set aside is no suspect any more, and begins anew when a person offers it again.
  private mutating func forget(_ id: MutationID) {
    guard case .careful(var care) = mode else { return }
    care.forget(id)
    care.suspects.remove(id)
    mode = .careful(care)
  }

  /// Whether an entry may have to be found that does not pass.
  package var isCareful: Bool { if case .careful = mode { true } else { false } }
}
