// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit

/// Takes one page or reset into the store, within one transaction: rows, pairs, receipts, cursor and overlay together.
///
/// A catch-up of ordinary size is kept aside and published at its consistent point. Above the bound it is published page by
/// page; even then a row that the outbox touches and the receipts of its mutations are published together, at a closing page,
/// and while a back-fill is open only when all rows of the mutation have arrived. Losses of access apply at once, always.
final class PageApplier {
  let store: Store
  let confirmed: ConfirmedRows
  let stage: Stage
  var effect = PageEffect(isApplied: true)
  /// Rows whose last space, or last held put, went: checked at the end.
  private var orphans: Set<RowKey> = []
  /// Guesses that are known to be wrong.
  private var wrong: Set<RowKey> = []
  /// What was decided, for whoever asks why.
  var decisions: DecisionLog
  /// Rows whose overlay is to be computed anew.
  var stale: Set<RowKey> = []

  init(_ store: Store) throws {
    self.store = store
    confirmed = try ConfirmedRows(store.connection, store.catalog, store.spaces)
    stage = try Stage(store.connection)
    decisions = DecisionLog(try store.connection)
  }

  // MARK: Rows and their spaces

  /// Changes a row's base and notes what depends on it.
  private func set(_ key: RowKey, from old: ConfirmedRow?, to new: ConfirmedRow?) throws {
    if old == new { return }
    try confirmed.set(key, from: old, to: new)
    effect.tables.insert(key.table)
    if try confirmed.isApart(key) { stale.insert(key) }
    if let new, new.pairs.isEmpty { orphans.insert(key) }
  }

  private func change(_ key: RowKey, _ edit: (inout ConfirmedRow) throws -> Void) throws {
    // What the server says of a row that is not confirmed here comes with the row.
    guard let old = try confirmed.row(key), try !confirmed.isGuess(key, old) else { return }
    var new = old
    try edit(&new)
    try set(key, from: old, to: new)
  }

  /// The user may no longer see a space: its rows go at once, unless another space holds them. One that never had a row here
  /// is no loss to tell of.
  func lose(_ space: SpaceID) throws {
    let id = try store.spaces.id(of: space)
    let held = try stage.removeAll(in: space)
    note(held)
    let rows = try confirmed.count(in: id)
    if rows > 0 {
      for key in try confirmed.keys(in: id) { try change(key) { $0.pairs[id] = nil } }
    }
    if rows > 0 || !held.isEmpty { try noteLoss(space) }
  }

  private func noteLoss(_ space: SpaceID) throws {
    effect.lost.append(space)
    decisions.add(.init(.accessLost, at: store.ambient.now(), count: 1))
    try store.connection.run(
      "INSERT OR REPLACE INTO skerry_lost(space, at) VALUES (?, ?)", .text(space.text), .integer(store.ambient.now()))
  }

  /// A row left a space. It stays if another space of the user still holds it; its content comes with that space's own entry,
  /// so the pair gets an old mark.
  func leave(_ space: SpaceID, _ key: RowKey, still: [SpaceID]) throws {
    let id = try store.spaces.id(of: space)
    try removeHeld(key, in: space)
    if still.isEmpty { try end(guess: key) }
    try change(key) { row in
      row.pairs[id] = nil
      for other in still {
        let number = try store.spaces.id(of: other)
        guard row.pairs[number] == nil else { continue }
        row.pairs[number] = try store.spaces.generation(number) - 1
        try store.spaces.noteOld(number)
      }
    }
  }

  /// What is held belongs to a history that is read anew; a row that only a held put kept here goes with it.
  func clearStage() throws { note(try stage.clear()) }

  /// Rows of which a held put went: others' values are out of the file's pages then, but not yet out of its WAL.
  private func note(_ held: [RowKey]) {
    orphans.formUnion(held)
    if !held.isEmpty { effect.hasRemovedRows = true }
  }

  /// What the deletion of a row in a space ends has maybe not been published yet.
  func removeHeld(_ key: RowKey, in space: SpaceID) throws {
    if try stage.remove(key, in: space) { effect.hasRemovedRows = true }
    orphans.insert(key)
  }

  /// The user may see a space, again or for the first time, or anew after a reset: a refill begins, and what it does not
  /// bring again is swept at its end. A loss that nobody has acknowledged is no news any more.
  func gain(_ space: SpaceID) throws {
    try store.connection.run("DELETE FROM skerry_lost WHERE space = ?", .text(space.text))
    // What is held from before has an older mark as well, and becomes a row when it is published.
    let held: Int64 = try stage.holdsAnything(in: space) ? 1 : 0
    try store.spaces.raiseGeneration(space, rows: confirmed.count(in: store.spaces.id(of: space)) + held)
  }

  // MARK: Guesses

  /// The server has no such row for this account.
  func end(guess key: RowKey) throws {
    wrong.insert(key)
    orphans.insert(key)
  }

  /// The store is as the server is for the first time: what no page has brought is not there.
  func endGuesses() throws {
    let keys = try Guesses.all(store.connection)
    if keys.isEmpty { return }
    for key in keys {
      if try confirmed.isApart(key) { effect.hasFreedEntries = true }
      try end(guess: key)
    }
    decisions.add(.init(.guessesEnded, at: store.ambient.now(), count: keys.count))
  }

  // MARK: Publishing

  func publish(_ item: StagedItem) throws {
    switch item.kind {
    case .put: try publishPut(item)
    case .deleted: try publishDeleted(item)
    case .filled: try sweep(item)
    case .receipt:
      if let receipt = item.receipt { try settle(receipt) }
    }
  }

  private func publishPut(_ item: StagedItem) throws {
    guard let state = item.row else { return }
    let old = try confirmed.row(item.key)
    if let old, try confirmed.isGuess(item.key, old),
      try store.confirm(guess: old.state, of: item.key, by: state)
    {
      effect.hasFreedEntries = true
    }
    var new = old ?? ConfirmedRow(state: state, pairs: SpacePairs())
    new.state = state
    new.pairs[try store.spaces.id(of: item.space)] = item.generation
    try set(item.key, from: old, to: new)
  }

  /// Also ends the pairs that a running refill has not seen again.
  private func publishDeleted(_ item: StagedItem) throws {
    let id = try store.spaces.id(of: item.space)
    try change(item.key) { row in
      row.pairs = SpacePairs(
        try row.pairs.filter { try $0.space != id && $0.generation == store.spaces.generation($0.space) })
    }
  }

  /// A space has been filled: rows that the refill did not bring are no longer in it.
  private func sweep(_ item: StagedItem) throws {
    let id = try store.spaces.id(of: item.space)
    // A put that is held from before the refill tells of a row that may have left since, unseen.
    note(try stage.removePuts(in: item.space, olderThan: item.generation))
    // Nothing was here when the refill began, so nothing can be left over from before.
    if try store.spaces.beganEmpty(id) { return }
    for key in try confirmed.keys(in: id, olderThan: item.generation) {
      if try stage.holdsPut(key, in: item.space) { continue }
      try change(key) { $0.pairs[id] = nil }
    }
  }

  /// A mutation has its outcome: it leaves the outbox and the overlay.
  private func settle(_ receipt: Receipt) throws {
    let connection = try store.connection
    guard let entry = try store.entry(receipt.id) else { return }
    let touched = try store.touched(entry.made)
    stale.formUnion(touched)
    confirmed.keepApart(touched)
    switch receipt.outcome {
    case .confirmed:
      try connection.run(
        """
        INSERT OR REPLACE INTO skerry_archive(made, mid, ops, subjects, label, at, void, sent, pos, sum)
        SELECT made, mid, ops, subjects, label, at, void, sent, ?, sum FROM skerry_outbox WHERE made = ?
        """, .integer(store.state.cursor?.position ?? 0), .integer(entry.made))
    case .rejected, .conflicted:
      try connection.run(
        """
        INSERT OR REPLACE INTO skerry_inbox(made, mid, outcome, code, reason, ops, label, at)
        SELECT made, mid, ?, ?, ?, ops, label, ? FROM skerry_outbox WHERE made = ?
        """, .text(receipt.outcome.rawValue), receipt.code.map { .text($0.text) } ?? .null,
        receipt.reason.map { .text($0) } ?? .null, .integer(store.ambient.now()), .integer(entry.made))
    case .void: break
    }
    try store.remove(entry.made)
    store.answered[receipt.id] = nil
    store.lowestNumber = nil
    effect.settled.append(receipt.id)
    if [.rejected, .conflicted].contains(receipt.outcome) { effect.refusals.append(receipt.code) }
    decisions.add(
      PastDecision(receipt, entry, at: store.ambient.now(), position: store.state.cursor?.position, store.catalog))
  }

  /// Ends the transaction's work: rows without a space go with every copy of their values, and overlays are computed anew.
  func finish() throws {
    for key in orphans.sorted() {
      guard let row = try confirmed.row(key), row.pairs.isEmpty, try !stage.holdsPut(key) else { continue }
      if !wrong.contains(key), try confirmed.isGuess(key, row) { continue }
      try set(key, from: row, to: nil)
      effect.hasRemovedRows = true
    }
    try store.refold(stale, confirmed)
    // A refusal changes what is shown where no confirmed row changes.
    for key in stale { effect.tables.insert(key.table) }
    try confirmed.flush()
    try decisions.write()
  }
}
