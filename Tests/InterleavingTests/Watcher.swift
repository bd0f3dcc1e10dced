// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryStore

/// Looks at what one device shows after every page, and holds it against the commits. It shares no code with the engine: it
/// knows who wrote what together, what an account could see after each commit, and how many commits a page had behind it.
struct Watcher {
  /// What is wrong with a state that a device published.
  enum Fault: Hashable {
    /// Rows that were committed together are not visible together, nor replaced by newer ones.
    case half
    /// A row of a space that the account could not see at the last sequencer run that the device has reached.
    case foreign
    /// At a consistent point, something else than what the account could see at that commit.
    case inexact
    /// Between consistent points, something that was not visible before.
    case early
    /// A page that tells of a row what no sequencer run has seen, or what the account may not see.
    case ahead
    /// A digest that differs from the server's, or pending work that is shown without being in the outbox.
    case books
  }

  /// What a page had behind it.
  struct Reach {
    /// The commits before it was read.
    let read: Int
    /// The commits before the newest sequencer run that the page's cursor names.
    let head: Int
    /// The commits before the newest run of which the device has everything.
    let whole: Int
    /// The commits before each run, in order.
    let runs: [Int]
  }

  let user: Int
  /// The token that the device shows in each row; nil for a row that it does not show.
  private(set) var shown: [Int?] = Array(repeating: nil, count: Place.count)
  private var consistent = 0
  private(set) var faults: [Fault: String] = [:]
  private(set) var states = 0
  private(set) var points = 0
  /// Whether the last page ended at a consistent point.
  private(set) var isFresh = false

  init(user: Int) { self.user = user }

  /// Looks at what a page brings, published or not: of each row what it was when the newest run saw it, in a space of the
  /// account.
  mutating func received(_ page: Page, _ log: CommitLog, head: Int) {
    for case .put(let space, let image) in page.items {
      let row = Int(image.key.values.first?.integer ?? 0)
      let bits = SpaceBits(name: space.text)
      let version = log.version(row, at: head)
      if version.token != image.values[1].integer.map({ Int($0) }) || !version.spaces.contains(bits) {
        note(.ahead, "\(image.key) comes with \(image.values[1]) in \(space), \(text(version.token)) was sequenced")
      } else if !log.sight(user, at: head).contains(bits) {
        note(.ahead, "\(image.key) comes in \(space), which is not seen")
      }
    }
  }

  /// Takes note of an applied page. `pending` are the rows that the outbox touches: they show what is newer than any commit.
  mutating func applied(
    _ effect: PageEffect, _ store: Store, _ log: CommitLog, _ reach: Reach, pending: Set<Int>
  ) throws {
    let before = shown
    let hasChanged = !effect.tables.isEmpty || !effect.settled.isEmpty
    if hasChanged { try look(store, pending) }
    states += 1
    isFresh = effect.isConsistent
    if !effect.mismatches.isEmpty { note(.books, "digests of \(effect.mismatches) differ") }
    if effect.isConsistent {
      points += 1
      consistent = reach.read
      checkExact(log, reach.read, pending)
    } else if !store.isCatchingUp {
      checkNothingNew(before, pending)
    }
    checkSight(log, reach, pending)
    if hasChanged { checkTogether(log, reach, pending) }
  }

  /// Reads what the device shows now.
  mutating func look(_ store: Store, _ pending: Set<Int>) throws {
    shown = Array(repeating: nil, count: Place.count)
    let lines = try store.withConnection { connection in
      try connection.query(Watcher.screen) { (Int($0.integer(0)), Int($0.integer(1)), $0.integer(2)) }
    }
    for (row, token, state) in lines {
      shown[row] = token
      if state == 1, !pending.contains(row) { note(.books, "row \(row) is shown as pending") }
    }
  }

  private static let screen = Place.Table.allCases.map { "SELECT id, token, skerry_state FROM \($0.rawValue)" }
    .joined(separator: " UNION ALL ")

  private mutating func checkExact(_ log: CommitLog, _ commit: Int, _ pending: Set<Int>) {
    for row in 0..<Place.count where !pending.contains(row) {
      let expected = log.seen(row, by: user, at: commit)
      if shown[row] != expected {
        note(.inexact, "row \(row) shows \(text(shown[row])), \(text(expected)) was committed by \(commit)")
      }
    }
  }

  private mutating func checkNothingNew(_ before: [Int?], _ pending: Set<Int>) {
    for row in 0..<Place.count where shown[row] != before[row] && shown[row] != nil && !pending.contains(row) {
      note(.early, "row \(row) shows \(text(shown[row])) within a catch-up, it showed \(text(before[row]))")
    }
  }

  /// What the account may see no longer goes at once, without waiting for the end of the catch-up. A row of a space that the
  /// account does see may still be there in three cases. It was deleted: that is no loss of sight. It came back into one of
  /// its spaces before the page was read: the entry by which it left has moved to where it came back. Its space was lost in
  /// between, and maybe gained again: of such a space nothing is told but the loss, or the gain and what is in it. In the last
  /// two cases the device is yet to get there.
  private mutating func checkSight(_ log: CommitLog, _ reach: Reach, _ pending: Set<Int>) {
    for row in 0..<Place.count where shown[row] != nil && !pending.contains(row) {
      if log.seen(row, by: user, at: reach.whole) == nil, !mayStay(row, log, reach) {
        note(.foreign, "row \(row) with \(text(shown[row])) is in no space that is seen by commit \(reach.whole)")
      }
    }
  }

  private func mayStay(_ row: Int, _ log: CommitLog, _ reach: Reach) -> Bool {
    var held = log.version(row, at: consistent).spaces
    // The spaces that the account sees where the device is, or saw again before the page was read.
    var seen = log.sight(user, at: reach.whole)
    var (lost, isDeleted) = (SpaceBits(), false)
    for end in runs(reach) {
      let (version, sight) = (log.version(row, at: end), log.sight(user, at: end))
      isDeleted = isDeleted || version.token == nil
      lost.formUnion(held.subtracting(sight))
      if end <= reach.whole { held.formUnion(version.spaces) }
      if end < reach.whole { continue }
      seen.formUnion(sight)
      let spaces = isDeleted ? held.union(version.spaces) : version.spaces
      if !spaces.isDisjoint(with: held.intersection(seen).union(sight)) { return true }
    }
    return !lost.isDisjoint(with: seen)
  }

  /// The commits before each run since the last consistent point, up to the one that the page's cursor names.
  private func runs(_ reach: Reach) -> ArraySlice<Int> {
    let first = reach.runs.lastIndex { $0 <= consistent }.map { $0 + 1 } ?? 0
    let last = reach.runs.lastIndex { $0 <= reach.head } ?? -1
    return first <= last ? reach.runs[first...last] : []
  }

  /// Whether the device may have dropped a row because a space that held it here was lost, though another one holds it too.
  private func wasDropped(_ row: Int, _ log: CommitLog, _ reach: Reach) -> Bool {
    let held = log.version(row, at: consistent).spaces.intersection(log.sight(user, at: consistent))
    return runs(reach).contains { !held.isSubset(of: log.sight(user, at: $0)) }
  }

  private mutating func checkTogether(_ log: CommitLog, _ reach: Reach, _ pending: Set<Int>) {
    for row in 0..<Place.count where !pending.contains(row) {
      guard let token = shown[row], let (commit, rows) = log.written[token] else { continue }
      for other in rows where other != row && !pending.contains(other) {
        if let beside = shown[other] {
          guard let its = log.written[beside]?.commit, its >= commit else {
            note(.half, "row \(row) shows \(token), row \(other) of the same transaction still \(beside)")
            continue
          }
        } else if !log.wasHidden(other, from: user, since: commit, until: reach.head), !wasDropped(other, log, reach) {
          note(.half, "row \(row) shows \(token), row \(other) of the same transaction is missing")
        }
      }
    }
  }

  /// The first of each kind is kept.
  private mutating func note(_ fault: Fault, _ what: String) { faults[fault] = faults[fault] ?? what }

  private func text(_ token: Int?) -> String { token.map { "\($0)" } ?? "nothing" }
}
