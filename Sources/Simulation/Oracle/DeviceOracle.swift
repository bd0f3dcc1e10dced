// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// Watches one device's file after every job that changed it, and says what is not as it must be.
final class DeviceOracle {
  let name: String
  let user: AccountID
  unowned let model: ModelServer
  var ledger = Ledger()
  /// The newest version seen of each row, by the order of commits, since the last reset.
  var newest: [RowKey: Int] = [:]
  var seenBase: [RowKey: Incarnation] = [:]
  var ended: Set<ModelServer.RowLife> = []
  /// The run whose state the device last said that it shows.
  var point = ""
  private var syncedAt: Int64?
  var isRefilling = false
  private var epoch: String?
  private var positions: (head: Int64, nonce: String)?
  /// Copied from another device, copied itself, or set back: another copy may have sent what this one also holds.
  private(set) var isCopy = false
  /// A reset was taken in since the last look.
  private(set) var isResetTaken = false
  var consistentPoints = 0
  /// The version by which all rows here had been fetched at the last consistent point.
  var fetchedBy: Lens?
  private(set) var last: DeviceReading?
  /// What the file's cursor is once a reset that has arrived is taken in.
  var awaitedReset: Cursor?
  private var rejectionsSeen: Set<MutationID> = []
  var maybeVoid: Set<MutationID> = []
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
    fileprivate let fetchedBy: Lens?
    fileprivate let epoch: String?
    fileprivate let rejections: Set<MutationID>
    fileprivate let isRefilling: Bool
    fileprivate let maybeVoid: Set<MutationID>
    fileprivate let maybeAcknowledged: Set<MutationID>
  }

  var image: Image {
    Image(
      ledger: ledger, newest: newest, seenBase: seenBase, ended: ended, point: point, syncedAt: syncedAt,
      fetchedBy: fetchedBy, epoch: epoch,
      rejections: rejectionsSeen, isRefilling: isRefilling, maybeVoid: maybeVoid, maybeAcknowledged: maybeAcknowledged)
  }

  /// The file is another's, or an older one, from now on.
  func become(_ image: Image) {
    (ledger, newest, seenBase, ended) = (image.ledger, image.newest, image.seenBase, image.ended)
    (point, syncedAt, epoch, rejectionsSeen) = (image.point, image.syncedAt, image.epoch, image.rejections)
    (isRefilling, maybeVoid, maybeAcknowledged) = (image.isRefilling, image.maybeVoid, image.maybeAcknowledged)
    fetchedBy = image.fetchedBy
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

  /// A write begins. Whatever becomes of it, it may be durable until it is found or has returned.
  func attempt(_ intent: Intent) { ledger.uncertain.append(intent) }

  /// It has returned.
  func isCertain(_ intent: Intent) { ledger.uncertain.removeAll { $0 === intent } }

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
    isResetTaken = false
    fetchedBy = fetchedBy ?? reading.lens
    if let cursor = reading.cursor, let epoch, cursor.epoch != epoch { forgetHistory() }
    if let awaitedReset, reading.cursor == awaitedReset {
      forgetHistory()
      self.awaitedReset = nil
      try need(reading.heldItems == 0, "INV 3 a reset keeps what was held of the old history", name)
    }
    epoch = reading.cursor?.epoch ?? epoch
    try followMutations(reading, operations)
    let isPoint = reading.syncedAt != syncedAt
    syncedAt = reading.syncedAt
    if isPoint {
      try checkPoint(reading)
      isRefilling = false
    }
    if !isPoint { try checkNothingVanished(reading) }
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
    (isRefilling, isResetTaken) = (true, true)
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
      let found = try operations(entry.id, .pending)
      guard let intent = ledger.uncertain.first(where: { (try? $0.check(found, name)) != nil }) else {
        throw Broken("I-2 a mutation that nobody made", "\(name) \(entry.id) \(found)")
      }
      ledger.uncertain.removeAll { $0 === intent }
      ledger.note(entry.id, found)
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
    case .pending:
      try need(
        record.fate == .pending || isResetTaken && record.fate != .refused, "I-4 what had its outcome is pending again",
        "\(name) \(id) \(record.fate)")
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
    case .ended, nil: try checkEnd(record, verdicts)
    }
    ledger.set(id, place ?? .ended)
  }

  /// It is in no queue any more.
  private func checkEnd(_ record: Ledger.Record, _ verdicts: Set<ModelServer.Judged>) throws {
    let id = record.id
    let isConfirmed = verdicts.contains { $0.outcome == .confirmed }
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

  private func checkNumbers(_ reading: DeviceReading) throws {
    var numbers: Set<Int64> = []
    for entry in reading.outbox {
      try need(numbers.insert(entry.number).inserted, "F-L09 a number was given twice", "\(name) \(entry.number)")
    }
    let order = reading.outbox.compactMap { ledger[$0.id]?.made }
    try need(order == order.sorted(), "I-10 the outbox is out of order", "\(name) \(reading.outbox.map(\.id))")
  }
}
