// SPDX-License-Identifier: Apache-2.0

import SkerryModel

extension DeviceOracle {
  // MARK: Confirmed rows

  /// The device says that it is as the server was: then it holds its user's scope at that run, row for row.
  func checkPoint(_ reading: DeviceReading) throws {
    consistentPoints += 1
    guard let cursor = reading.cursor, let run = model.runs[cursor.nonce] else {
      throw Broken(
        "INV 9 says that it is as the server was, at a run that never was",
        "\(name) \(String(describing: reading.cursor))")
    }
    try need(
      cursor.open.isEmpty, "INV 9 says that it is complete while spaces are being filled", "\(name) \(cursor.open)")
    try need(reading.heldItems == 0, "INV 2 something unpublished at a consistent point", "\(name)")
    try need(
      cursor.schema == reading.lens.version && cursor.again == nil,
      "INV 9 says that it is complete in a version it has not read",
      "\(name) \(cursor.schema) \(reading.lens.version)")
    let scope = run.scope(of: user).filter { reading.lens.knows($0.key.table) }
    for (key, confirmed) in reading.base {
      guard let expected = run.rows[key], let spaces = scope[key] else {
        throw Broken("INV 6 holds a row out of its user's scope", "\(name) \(key) \(confirmed.spaces)")
      }
      try need(
        reading.lens.shows(expected, confirmed.row), "I-6 holds another version",
        "\(name) \(key): \(confirmed.row), expected \(Version.text(expected))")
      try need(
        confirmed.spaces == spaces, "I-6 wrong spaces", "\(name) \(key): \(confirmed.spaces), expected \(spaces)")
    }
    for key in scope.keys where reading.base[key] == nil {
      throw Broken("I-6 lacks a row of its user's scope", "\(name) \(key) at run \(run.index)")
    }
    for entry in reading.outbox {
      // What sleeps is in the old base; at a point there is none.
      try need(!entry.isDormant, "INV 5 a pending write is not shown", "\(name) \(entry.id)")
      let receipt = ModelServer.ReceiptName(user: user, mutation: entry.id)
      let sentByThis = !isCopy && model.lostTails == 0 && run.judged.contains(receipt)
      try need(!sentByThis, "INV 9 pending, and the receipt was in reach", "\(name) \(entry.id)")
    }
    try need(reading.mismatches == 0, "I-12 digests differ", "\(name) \(reading.mismatches)")
    try checkLosses(reading, run)
    point = cursor.nonce
    fetchedBy = reading.lens
  }

  /// A space of which there were rows here, and which is the user's no longer, is told; one that is theirs is not.
  private func checkLosses(_ reading: DeviceReading, _ run: ModelServer.Run) throws {
    let mine = run.spaces(of: user)
    for space in reading.lost where mine.contains(space) {
      throw Broken("INV 9 says that access was lost which is there", "\(name) \(space)")
    }
    guard let last, last.syncedAt != nil else { return }
    let held = last.base.values.reduce(into: Set<SpaceID>()) { $0.formUnion($1.spaces) }
    for space in held.sorted() where !mine.contains(space) && !reading.lost.contains(space) {
      throw Broken("INV 9 lost access to a space and does not say so", "\(name) \(space)")
    }
  }

  /// Nothing that is the user's goes before a consistent point, unless access itself went and came since the last.
  func checkNothingVanished(_ reading: DeviceReading) throws {
    guard !reading.isLong, !isRefilling, let last, let old = model.runs[point],
      let new = reading.cursor.flatMap({ model.runs[$0.nonce] }), old.accessMarks[user] == new.accessMarks[user]
    else { return }
    for key in last.base.keys where reading.base[key] == nil {
      try need(new.scope(of: user)[key] == nil, "INV 5 a row vanished that is the user's", "\(name) \(key)")
    }
  }

  func checkBase(_ reading: DeviceReading) throws {
    let shown = model.runs[point]?.rows ?? [:]
    for (key, confirmed) in reading.base {
      let row = confirmed.row
      let isKnown = model.versions(key, row.tag).last { reading.lens.shows($0, row, fetchedBy: fetchedBy) }
      guard let version = isKnown else {
        throw Broken("I-6 holds what was never written", "\(name) \(key): \(row)")
      }
      if !reading.isLong {
        try need(
          shown[key].map { reading.lens.shows($0, row, fetchedBy: fetchedBy) } == true,
          "INV 2 half a catch-up is visible",
          "\(name) \(key): \(row), at the last consistent point \(Version.text(shown[key]))")
      }
      try need(
        !confirmed.spaces.isEmpty || reading.heldPuts.contains(key), "INV 6 a row without a space", "\(name) \(key)")
      if isRefilling { continue }
      try need(
        version.order >= newest[key] ?? 0, "INV 5 went back to an older version",
        "\(name) \(key): \(row)")
      try need(
        !ended.contains(.init(key: key, incarnation: row.incarnation)), "INV 4 a deleted row came back",
        "\(name) \(key)")
      newest[key] = version.order
    }
    if isRefilling { return }
    for (key, incarnation) in seenBase where reading.base[key]?.row.incarnation != incarnation {
      let life = ModelServer.RowLife(key: key, incarnation: incarnation)
      if model.ended.contains(life), model.rows[key]?.incarnation != incarnation { ended.insert(life) }
    }
    seenBase = reading.base.mapValues(\.row.incarnation)
  }

  // MARK: The screen

  /// The confirmed rows with all that is known to have gone into them.
  private func inked(_ reading: DeviceReading) -> [RowKey: Row] {
    var expected = reading.base.mapValues(\.row)
    for key in expected.keys {
      guard let row = expected[key] else { continue }
      // In two histories the same values may lie on different grounds: then only what both hold is certain.
      let found = model.versions(key, row.tag).filter { reading.lens.shows($0, row, fetchedBy: fetchedBy) }
      guard let version = found.last else { continue }
      expected[key]?.ink = version.ink.filter { ink in found.allSatisfy { $0.ink.contains(ink) } }
    }
    return expected
  }

  /// What is shown is what was confirmed with the pending operations folded over it, each exactly once.
  func checkScreen(_ reading: DeviceReading) throws {
    var expected = inked(reading)
    for entry in reading.outbox where !entry.isDormant {
      guard let record = ledger[entry.id] else { continue }
      if entry.isVoid, !record.isVoid, maybeVoid.contains(entry.id) {
        ledger.withdraw(entry.id)
        continue
      }
      try need(record.isVoid == entry.isVoid, "I-2 withdrawn, or not, against what its user did", "\(name) \(entry.id)")
      if entry.isVoid { continue }
      for (step, operation) in record.operations.enumerated() {
        let old = expected[operation.key]
        let isTwice = old?.ink.contains(Ink(mutation: entry.id, step: step)) ?? false
        try need(
          !isTwice || isCopy, "INV 5 shown twice: its effect came before its receipt",
          "\(name) \(entry.id) \(operation)")
        if case .becomes(let row) = model.rules.apply(operation, at: step, of: entry.id, to: old) {
          expected[operation.key] = row
        }
      }
    }
    for (key, row) in reading.screen {
      guard let wanted = expected[key] else {
        throw Broken("INV 5 shows a row that is not there", "\(name) \(key): \(row)")
      }
      try need(
        row.values == wanted.values && row.tag == wanted.tag && row.incarnation == wanted.incarnation,
        "INV 5 the screen is not base and pending", "\(name) \(key): \(row.values), expected \(wanted.values)")
    }
    for key in expected.keys where reading.screen[key] == nil {
      throw Broken("INV 5 a row is missing on the screen", "\(name) \(key)")
    }
    try checkConfirmed(expected)
  }

  /// A confirmed mutation of this device is in each row that it touched, unless that life of the row has ended, or the row is
  /// out of reach.
  private func checkConfirmed(_ shown: [RowKey: Row]) throws {
    if isCopy || model.lostTails > 0 { return }
    for id in ledger.open {
      guard let record = ledger[id], record.fate == .confirmed else { continue }
      for (step, operation) in record.operations.enumerated() {
        guard let row = shown[operation.key] else { continue }
        let meant = operation.incarnation ?? Incarnation(tag: VersionTag(raw: id.raw), index: UInt16(step))
        if row.incarnation != meant { continue }
        try need(!operation.isDelete, "INV 4 a row is shown that its user deleted", "\(name) \(operation.key)")
        try need(
          row.ink.contains(Ink(mutation: id, step: step)), "INV 5 a confirmed write of its own is not shown",
          "\(name) \(id) \(operation)")
      }
    }
  }
}
