// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
package import SkerryModel
import SkerrySQLiteKit

extension Store {
  /// Takes in a page, if the cursor is still the one with which it was asked for.
  ///
  /// - Parameters:
  ///   - asked: the cursor in the request.
  ///   - when: `clock` when the request was made: verdicts that came before are known to the server that answered.
  package func apply(_ page: Page, asked: Cursor?, when: Int) throws -> PageEffect {
    let effect = try transaction {
      guard asked == state.cursor, page.cursor.owner == state.ids, let asked, page.cursor.follows(asked) else {
        return PageEffect()
      }
      clock += 1
      let applier = try PageApplier(self)
      state.cursor = page.cursor
      state.count += Int64(page.items.count)
      var arrivals = try Arrivals(applier, spaces, count: page.items.count)
      for item in page.items { try arrivals.take(item) }
      let items = arrivals.rest
      let isWhole = page.closes && page.cursor.isWhole
      if isWhole {
        try publishAll(items, applier)
      } else {
        state.isLong = state.isLong || state.count > longCatchUp
        if state.isLong {
          try publishPart(items, page, applier)
        } else {
          for item in items { try applier.stage.append(item) }
        }
      }
      if page.closes { try offerAgainWhatWasLost(before: when, applier.stage) }
      try connection.run("DELETE FROM skerry_archive WHERE pos <= ?", .integer(page.safe))
      if isWhole, state.syncedAt == nil { try applier.endGuesses() }
      try applier.finish()
      if isWhole { try reachConsistentPoint(page, applier) }
      return applier.effect
    }
    needsPurge = needsPurge || effect.hasRemovedRows
    purge()
    return effect
  }

  private func publishAll(_ items: [StagedItem], _ applier: PageApplier) throws {
    try applier.stage.drain { item in
      try applier.publish(item)
      return true
    }
    for item in items { try applier.publish(item) }
    try wakeAll(applier)
  }

  /// Nothing was lost on the way if the receipt is here or held; otherwise the verdict belongs to a history that is no more.
  private func offerAgainWhatWasLost(before when: Int, _ stage: Stage) throws {
    for (id, time) in answered where time < when {
      if try !stage.holdsReceipt(id) { answered[id] = nil }
    }
  }

  private func reachConsistentPoint(_ page: Page, _ applier: PageApplier) throws {
    state.isLong = false
    state.count = 0
    state.syncedAt = ambient.now()
    applier.effect.isConsistent = true
    for (space, digest) in page.digests.sorted(by: { $0.key < $1.key }) {
      if try spaces.digest(spaces.id(of: space)) != digest {
        applier.effect.mismatches.append(space)
        state.mismatches += 1
      }
    }
    let mismatches = applier.effect.mismatches.count
    if mismatches > 0 {
      try DecisionLog.write([.init(.digestMismatch, at: ambient.now(), count: mismatches)], connection)
    }
  }

  // MARK: Page by page

  private func publishPart(_ items: [StagedItem], _ page: Page, _ applier: PageApplier) throws {
    let receiptsAreOpen = page.cursor.open.contains { $0.space.holdsReceipts }
    // An outbox that touches no row, as that of a new device, holds nothing back.
    let touchesAny = try touchesAnyRow()
    guard page.closes, !receiptsAreOpen else {
      // Everything that the outbox touches waits for a closing page that has the receipts.
      try publish(items, applier, isClosing: page.closes) { try touchesAny && isTouched($0) }
      return
    }
    guard touchesAny else {
      try publish(items, applier, isClosing: true) { _ in false }
      return
    }
    for item in items { try applier.stage.append(item) }
    let held = try heldRows(page.cursor, applier)
    try publish([], applier, isClosing: true) { held.contains($0) }
    try wake(except: held, applier)
  }

  /// Publishes what may be, in order: first what is staged, then the page's own items; the rest is, or stays, staged.
  private func publish(
    _ items: [StagedItem], _ applier: PageApplier, isClosing: Bool, isHeld: (RowKey) throws -> Bool
  ) throws {
    func isReleased(_ item: StagedItem) throws -> Bool {
      switch item.kind {
      case .filled: return true
      case .put, .deleted: return try !isHeld(item.key)
      case .receipt:
        guard let id = item.receipt?.id, let entry = try entry(id) else { return true }
        guard isClosing else { return false }
        return try touched(entry.made).allSatisfy { try !isHeld($0) }
      }
    }
    try applier.stage.drain { item in
      guard try isReleased(item) else { return false }
      try applier.publish(item)
      return true
    }
    for item in items {
      if try isReleased(item), try !applier.stage.holdsAnything(about: item.key) {
        try applier.publish(item)
      } else {
        try applier.stage.append(item)
      }
    }
  }

  private func touchesAnyRow() throws -> Bool {
    try connection.first("SELECT 1 FROM skerry_subjects WHERE role > 0 AND tbl <> '$space' LIMIT 1") { _ in true }
      ?? false
  }

  private func isTouched(_ key: RowKey) throws -> Bool { try Subjects.touches(key, on: connection) }

  /// At a closing page with open spaces: the rows of mutations of which some row has not arrived, and all that share a
  /// mutation with them.
  private func heldRows(_ cursor: Cursor, _ applier: PageApplier) throws -> Set<RowKey> {
    if cursor.open.isEmpty { return [] }
    let touches = try connection.query(
      "SELECT made, tbl, key FROM skerry_subjects WHERE role > 0 AND tbl <> '$space' ORDER BY made"
    ) { ($0.integer(0), try RowKey(table: $0.text(1), bytes: $0.blob(2))) }
    let groups = Dictionary(grouping: touches, by: \.0).mapValues { $0.map(\.1) }
    var held: Set<RowKey> = []
    for key in Set(touches.map(\.1)).sorted() where try !hasArrived(key, applier) { held.insert(key) }
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      for keys in groups.values where keys.contains(where: held.contains) && !keys.allSatisfy(held.contains) {
        held.formUnion(keys)
        isGrowing = true
      }
    }
    return held
  }

  private func hasArrived(_ key: RowKey, _ applier: PageApplier) throws -> Bool {
    if try applier.stage.holdsPut(key) { return true }
    guard let row = try applier.confirmed.row(key) else { return false }
    return try row.pairs.contains { try $0.generation == spaces.generation($0.space) }
  }

  // MARK: What was offered again after a reset

  /// What the refill did not bring a receipt for is pending again.
  private func wakeAll(_ applier: PageApplier) throws { try wake(except: [], applier) }

  private func wake(except held: Set<RowKey>, _ applier: PageApplier) throws {
    let sleeping = try connection.query("SELECT made FROM skerry_outbox WHERE dormant = 1") { $0.integer(0) }
    for made in sleeping {
      let keys = try touched(made)
      if keys.contains(where: held.contains) { continue }
      try connection.run("UPDATE skerry_outbox SET dormant = 0 WHERE made = ?", .integer(made))
      applier.stale.formUnion(keys)
      applier.effect.hasFreedEntries = true
    }
  }
}

extension Cursor {
  /// Whether a page with this cursor can be the answer to that one. Something on the way may repeat an older answer, and
  /// nothing in a page names the request that it answers; within an epoch no server goes back.
  fileprivate func follows(_ asked: Cursor) -> Bool {
    epoch == asked.epoch && position >= asked.position && head >= asked.head
  }
}
