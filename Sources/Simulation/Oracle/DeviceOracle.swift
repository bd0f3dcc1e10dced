// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// Watches one device's file after every job that changed it, and says what is not as it must be.
final class DeviceOracle {
  let name: String
  let user: AccountID
  private unowned let model: ModelServer
  private(set) var ledger = Ledger()
  /// The newest version seen of each row, by the order of commits, since the last reset.
  private var newest: [RowKey: Int] = [:]
  private var seenBase: [RowKey: Incarnation] = [:]
  private var ended: Set<ModelServer.RowLife> = []
  /// The run whose state the device last said that it shows.
  private var point = ""
  private var syncedAt: Int64?
  private var isRefilling = false
  private var epoch: String?
  private var positions: (head: Int64, nonce: String)?
  /// Copied from another device, copied itself, or set back: another copy may have sent what this one also holds.
  private(set) var isCopy = false
  private(set) var checks = 0
  private(set) var consistentPoints = 0
  private(set) var last: DeviceReading?
  /// What the file's cursor is once a reset that has arrived is taken in.
  var awaitedReset: Cursor?
  private var rejectionsSeen: Set<MutationID> = []
  private var maybeVoid: Set<MutationID> = []
  private var maybeAcknowledged: Set<MutationID> = []

  init(name: String, user: AccountID, model: ModelServer) {
    self.name = name
    self.user = user
    self.model = model
  }

  /// What goes with an image of the file.
  struct Image {
    fileprivate let ledger: Ledger
    fileprivate let newest: [RowKey: Int]
    fileprivate let seenBase: [RowKey: Incarnation]
    fileprivate let ended: Set<ModelServer.RowLife>
    fileprivate let point: String
    fileprivate let syncedAt: Int64?
    fileprivate let epoch: String?
    fileprivate let rejections: Set<MutationID>
    fileprivate let isRefilling: Bool
    fileprivate let maybeVoid: Set<MutationID>
    fileprivate let maybeAcknowledged: Set<MutationID>
  }

  var image: Image {
    Image(
      ledger: ledger, newest: newest, seenBase: seenBase, ended: ended, point: point, syncedAt: syncedAt, epoch: epoch,
      rejections: rejectionsSeen, isRefilling: isRefilling, maybeVoid: maybeVoid, maybeAcknowledged: maybeAcknowledged)
  }

  /// The file is another's, or an older one, from now on.
  func become(_ image: Image) {
    (ledger, newest, seenBase, ended) = (image.ledger, image.newest, image.seenBase, image.ended)
    (point, syncedAt, epoch, rejectionsSeen) = (image.point, image.syncedAt, image.epoch, image.rejections)
    (isRefilling, maybeVoid, maybeAcknowledged) = (image.isRefilling, image.maybeVoid, image.maybeAcknowledged)
    isCopy = true
    last = nil
  }

  /// Another device has a copy of the file.
  func isCopied() { isCopy = true }

  /// How many mutations have not ended and are not in the outbox that was last seen.
  var missing: Int {
    let there = Set(last?.outbox.map(\.id) ?? [])
    return ledger.open.count { ledger[$0]?.fate == .pending && !there.contains($0) }
  }

  // MARK: What people did

  /// A write begins, or has ended; after an error of the disk it may have become durable all the same.
  func isUncertain(_ begins: Bool, after error: (any Error)? = nil) {
    if begins { ledger.uncertain += 1 } else if error == nil { ledger.uncertain = max(0, ledger.uncertain - 1) }
  }

  /// A write returned, in a world that does not look after each change.
  func note(_ id: MutationID?, _ operations: [Operation]) {
    if let id, ledger[id] == nil { ledger.note(id, operations) }
  }

  /// A write returned: it is there, and says what was meant.
  func acknowledge(_ id: MutationID?, _ intent: Intent) throws {
    guard let id else {
      return try need(
        intent.steps.isEmpty, "I-2 a write changed something, and nothing was recorded", "\(name) \(intent.steps)")
    }
    guard let record = ledger[id] else {
      throw Broken("INV 1 an acknowledged write is not in the outbox", "\(name) \(id)")
    }
    try intent.check(record.operations, name)
  }

  func withdrew(_ id: MutationID) { ledger.withdraw(id) }
  /// Whether it was withdrawn, the file will tell.
  func withdrewMaybe(_ id: MutationID) { maybeVoid.insert(id) }
  /// A refusal is being acknowledged: from now on it may go.
  func acknowledgedMaybe(_ id: MutationID) { maybeAcknowledged.insert(id) }

  // MARK: Looking

  /// The file has changed.
  ///
  /// - Parameter operations: gives the operations that a queue of the file holds for a mutation.
  func look(_ reading: DeviceReading, operations: (MutationID, Ledger.Fate) throws -> [Operation]) throws {
    checks += 1
    if let cursor = reading.cursor, let epoch, cursor.epoch != epoch { forgetHistory() }
    if let awaitedReset, reading.cursor == awaitedReset {
      forgetHistory()
      self.awaitedReset = nil
    }
    epoch = reading.cursor?.epoch ?? epoch
    try followMutations(reading, operations)
    let isPoint = reading.syncedAt != syncedAt
    syncedAt = reading.syncedAt
    if isPoint {
      try checkPoint(reading)
      isRefilling = false
    }
    try checkBase(reading)
    try checkScreen(reading)
    last = reading
  }

  /// A reset was taken in: what was confirmed before may come again, in another history, and stays shown until the refill
  /// is published.
  private func forgetHistory() {
    newest.removeAll()
    seenBase.removeAll()
    ended.removeAll()
    isRefilling = true
  }

  private func followMutations(
    _ reading: DeviceReading, _ operations: (MutationID, Ledger.Fate) throws -> [Operation]
  ) throws {
    var places: [MutationID: Ledger.Fate] = [:]
    for entry in reading.outbox { places[entry.id] = .pending }
    for (id, _) in reading.archive {
      try need(places.updateValue(.confirmed, forKey: id) == nil, "I-2 a mutation is in two places", "\(name) \(id)")
    }
    for refusal in reading.refusals {
      try need(
        places.updateValue(.refused, forKey: refusal.id) == nil, "I-2 a mutation is in two places",
        "\(name) \(refusal.id)")
    }
    for entry in reading.outbox where ledger[entry.id] == nil {
      try need(ledger.uncertain > 0, "I-2 a mutation that nobody made", "\(name) \(entry.id)")
      ledger.note(entry.id, try operations(entry.id, .pending))
    }
    for id in ledger.open {
      let old = ledger[id]
      try follow(id, places[id], reading)
      if let old, let place = places[id], place != old.fate {
        try need(
          try operations(id, place) == old.operations, "I-2 a mutation was changed on its way between two places",
          "\(name) \(id)")
      }
    }
    for (id, fate) in places where ledger[id]?.fate == .ended { ledger.set(id, fate) }
    try checkNumbers(reading)
  }

  private func follow(_ id: MutationID, _ place: Ledger.Fate?, _ reading: DeviceReading) throws {
    guard let record = ledger[id] else { return }
    let verdicts = model.everJudged[ModelServer.ReceiptName(user: user, mutation: id)] ?? []
    let isConfirmed = verdicts.contains { $0.outcome == .confirmed }
    switch place {
    case .pending: break
    case .confirmed:
      try need(isConfirmed, "INV 9 shown as confirmed, and the server never said so", "\(name) \(id)")
    case .refused:
      let refusal = reading.refusals.first { $0.id == id }
      try need(
        verdicts.contains { verdict in
          refusal.map { $0.outcome == verdict.outcome && ($0.code == nil || $0.code == verdict.code) } ?? false
        }, "INV 9 shown as refused, and the server never said so", "\(name) \(id) \(verdicts)")
      if rejectionsSeen.insert(id).inserted, !isCopy, model.lostTails == 0 {
        try need(refusal?.code != nil, "INV 9 a refusal without a reason", "\(name) \(id)")
      }
    case .ended, nil:
      switch record.fate {
      case .pending:
        // One that is in the server's backup when its receipt is published is not kept for a restore.
        let isSafe = isConfirmed && model.isSafe(.init(user: user, mutation: id))
        // Another copy of the file may have withdrawn it, or a discard that the disk refused was durable all the same.
        let isWithdrawn = record.isVoid || maybeVoid.contains(id) || isCopy
        let mayEnd = verdicts.contains { $0.outcome == .void } && isWithdrawn || isSafe
        try need(mayEnd, "I-2 a pending mutation is nowhere", "\(name) \(id) \(verdicts) \(record.operations)")
      case .confirmed:
        try need(
          model.isSafe(.init(user: user, mutation: id)), "I-3 a confirmed mutation left the archive before it was safe",
          "\(name) \(id)")
      case .refused:
        try need(maybeAcknowledged.contains(id), "INV 9 a refusal vanished that nobody acknowledged", "\(name) \(id)")
      case .ended: break
      }
    }
    ledger.set(id, place ?? .ended)
  }

  private func checkNumbers(_ reading: DeviceReading) throws {
    var numbers: Set<Int64> = []
    for entry in reading.outbox {
      try need(numbers.insert(entry.number).inserted, "F-L09 a number was given twice", "\(name) \(entry.number)")
    }
    let order = reading.outbox.compactMap { ledger[$0.id]?.made }
    try need(order == order.sorted(), "I-10 the outbox is out of order", "\(name) \(reading.outbox.map(\.id))")
  }

  // MARK: Confirmed rows

  /// The device says that it is as the server was: then it holds its user's scope at that run, row for row.
  private func checkPoint(_ reading: DeviceReading) throws {
    consistentPoints += 1
    guard let cursor = reading.cursor, let run = model.runs[cursor.nonce] else {
      throw Broken(
        "INV 9 says that it is as the server was, at a run that never was",
        "\(name) \(String(describing: reading.cursor))")
    }
    try need(
      cursor.open.isEmpty, "INV 9 says that it is complete while spaces are being filled", "\(name) \(cursor.open)")
    try need(reading.heldItems == 0, "INV 2 something unpublished at a consistent point", "\(name)")
    let scope = run.scope(of: user)
    for (key, confirmed) in reading.base {
      guard let expected = run.rows[key], let spaces = scope[key] else {
        throw Broken("INV 6 holds a row out of its user's scope", "\(name) \(key) \(confirmed.spaces)")
      }
      try need(
        expected.says(confirmed.row.values, confirmed.row.tag, confirmed.row.incarnation), "I-6 holds another version",
        "\(name) \(key): \(confirmed.row), expected \(Version.text(expected))")
      try need(
        confirmed.spaces == spaces, "I-6 wrong spaces", "\(name) \(key): \(confirmed.spaces), expected \(spaces)")
    }
    for key in scope.keys where reading.base[key] == nil {
      throw Broken("I-6 lacks a row of its user's scope", "\(name) \(key) at run \(run.index)")
    }
    for entry in reading.outbox {
      let receipt = ModelServer.ReceiptName(user: user, mutation: entry.id)
      let sentByThis = !isCopy && model.lostTails == 0 && run.judged.contains(receipt)
      try need(!sentByThis, "INV 9 pending, and the receipt was in reach", "\(name) \(entry.id)")
    }
    try need(reading.mismatches == 0, "I-12 digests differ", "\(name) \(reading.mismatches)")
    try checkLosses(reading, run)
    point = cursor.nonce
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

  private func checkBase(_ reading: DeviceReading) throws {
    let shown = model.runs[point]?.rows ?? [:]
    for (key, confirmed) in reading.base {
      let row = confirmed.row
      let isKnown = model.versions(key, row.tag).last { $0.says(row.values, row.tag, row.incarnation) }
      guard let version = isKnown else {
        throw Broken("I-6 holds what was never written", "\(name) \(key): \(row)")
      }
      if !reading.isLong {
        try need(
          shown[key]?.says(row.values, row.tag, row.incarnation) == true, "INV 2 half a catch-up is visible",
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

  /// What is shown is what was confirmed with the pending operations folded over it, each exactly once.
  private func checkScreen(_ reading: DeviceReading) throws {
    var expected = reading.base.mapValues(\.row)
    for key in expected.keys {
      guard let row = expected[key] else { continue }
      // In two histories the same values may lie on different grounds: then only what both hold is certain.
      let found = model.versions(key, row.tag).filter { $0.says(row.values, row.tag, row.incarnation) }
      guard let version = found.last else { continue }
      expected[key]?.ink = version.ink.filter { ink in found.allSatisfy { $0.ink.contains(ink) } }
    }
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
