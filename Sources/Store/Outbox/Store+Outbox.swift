// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
import SkerrySQLiteKit

extension Store {
  /// All that waits, in the order in which it was made.
  package func outbox() throws -> [OutboxEntry] {
    try connection.query("SELECT \(OutboxEntry.columns) FROM skerry_outbox ORDER BY made", row: OutboxEntry.init(row:))
  }

  /// The number of entries that wait, those set aside included.
  package func outboxCount() throws -> Int {
    try connection.first("SELECT count(*) FROM skerry_outbox") { Int($0.integer(0)) } ?? 0
  }

  /// Whether something waits that was handed to the transport.
  func holdsSentWork() throws -> Bool {
    try connection.first("SELECT 1 FROM skerry_outbox WHERE sent = 1 LIMIT 1") { _ in true } ?? false
  }

  func entry(_ id: MutationID) throws -> OutboxEntry? {
    try connection.first(
      "SELECT \(OutboxEntry.columns) FROM skerry_outbox WHERE mid = ?", .blob(id.raw.bytes), row: OutboxEntry.init(row:)
    )
  }

  /// The ids of the entries to offer next: those without a verdict, in order, without those set aside.
  ///
  /// What waits for an entry that was set aside waits with it: the server could only say so.
  ///
  /// - Parameter bytes: how much they take together; the first is given whatever it takes.
  package func ready(limit: Int, bytes: Int = .max) throws -> [MutationID] {
    let blocked = try BlockedEntries(on: connection)?.found ?? []
    // Answered entries wait for their page only, and a round pulls before there are many.
    let entries = try connection.query(
      "SELECT mid, length(ops), made FROM skerry_outbox WHERE failed = 0 ORDER BY made LIMIT ?",
      .integer(Int64(limit + answered.count + blocked.count))
    ) { (MutationID(bytes: $0.blob(0)), Int($0.integer(1)), $0.integer(2)) }
    var out: [MutationID] = []
    var size = 0
    for case (let id?, let length, let made) in entries where answered[id] == nil && !blocked.contains(made) {
      size += length
      if out.count == limit || !out.isEmpty && size > bytes { break }
      out.append(id)
    }
    return out
  }

  /// The entries that one must wait for; none if it has left the outbox.
  package func predecessors(of id: MutationID) throws -> [MutationID] {
    let made = try connection.first("SELECT made FROM skerry_outbox WHERE mid = ?", .blob(id.raw.bytes)) {
      $0.integer(0)
    }
    return try made.map { try Predecessors(connection).of($0) } ?? []
  }

  /// Freezes entries, durably, and gives them as they travel.
  ///
  /// Predecessors are looked up now: what has left the outbox is no longer one. Ids that have left are passed over.
  package func offer(_ ids: [MutationID]) throws -> [Mutation] {
    try transaction {
      try ids.compactMap { id in
        guard let entry = try entry(id) else { return nil }
        if !entry.isSent {
          try connection.run("UPDATE skerry_outbox SET sent = 1 WHERE made = ?", .integer(entry.made))
        }
        return Mutation(
          id: id, number: entry.number, after: try Predecessors(connection).of(entry.made),
          operations: entry.isVoid ? [] : entry.operations, isVoid: entry.isVoid)
      }
    }
  }

  /// Takes in a push answer: until a page shows otherwise, a judged mutation need not be offered again. Nothing leaves the
  /// outbox, whatever the answer says.
  package func take(_ verdicts: [Verdict]) throws {
    clock += 1
    for verdict in verdicts {
      switch verdict {
      case .settled(let id, _):
        if try entry(id) != nil { answered[id] = clock }
      case .identityReused(let replica):
        if replica == state.id { try remint() }
      // The device talks under another account's token: nothing of this outbox may be judged as that account's.
      case .forbidden, .notYet, .busy, .otherHistory: break
      }
    }
  }

  /// Takes a new replica id, since a copy of this file was found in use elsewhere. The same mutations are offered again under
  /// their own ids; receipts of the old ids are read on, since another copy may have sent what this one also holds.
  private func remint() throws {
    try transaction {
      state.ids.append(ambient.makeReplicaID())
      // No request carries more; the oldest copies of the file have been heard of long ago.
      state.ids = state.ids.suffix(Limits.replicaIDs)
      state.counter = 0
      lowestNumber = nil
      let entries = try connection.query("SELECT made FROM skerry_outbox ORDER BY made") { $0.integer(0) }
      for made in entries {
        state.counter += 1
        try connection.run("UPDATE skerry_outbox SET n = ? WHERE made = ?", .integer(state.counter), .integer(made))
      }
      answered.removeAll()
      // The cursor names the ids that it serves, so that a page asked for under the old id no longer fits.
      let ids = state.ids
      state.cursor?.owner = ids
    }
  }

  /// Withdraws a mutation. It keeps its number as void: if it was sent, the first to arrive decides.
  ///
  /// - Throws: `StoreError` with code `notFound` if it has its outcome already, `frozen` while a refill is going on that may
  ///   still show that it was confirmed.
  package func discard(_ id: MutationID) throws {
    try transaction {
      guard let entry = try entry(id) else {
        throw StoreError(.notFound, "mutation \(id) is not in the outbox; it may have its outcome already")
      }
      if entry.isDormant {
        throw StoreError(.frozen, "mutation \(id) is being offered again after a reset; wait for the refill")
      }
      try connection.run("UPDATE skerry_outbox SET void = 1, failed = 0 WHERE made = ?", .integer(entry.made))
      try EntrySum.refresh(entry.made, on: connection)
      answered[id] = nil
      try DecisionLog.write([PastDecision(.discarded, entry, at: ambient.now(), catalog)], connection)
      let confirmed = try ConfirmedRows(connection, catalog, spaces)
      try refold(touched(entry.made), confirmed)
    }
  }

  /// Replaces an entry that was never handed to the transport by other operations, in its place but under a new id: a copy
  /// of the file may still send the old one.
  ///
  /// - Throws: `StoreError` with code `notFound` or `frozen`.
  package func replace(_ id: MutationID, with operations: [Operation], newID: MutationID) throws {
    try transaction {
      guard let entry = try entry(id) else { throw StoreError(.notFound, "mutation \(id) is not in the outbox") }
      let isLast = try connection.first("SELECT max(made) FROM skerry_outbox") { $0.integer(0) } == entry.made
      if entry.isSent || entry.isVoid || entry.isDormant || !isLast {
        throw StoreError(.frozen, "mutation \(id) cannot be edited any more; make a new one")
      }
      let confirmed = try ConfirmedRows(connection, catalog, spaces)
      let before = try touched(entry.made)
      confirmed.keepApart(before)
      try remove(entry.made)
      try refold(before, confirmed)
      var draft = try Draft(self, id: newID)
      for operation in operations { try draft.record(try normalised(operation)) }
      try insert(
        draft, Operation.encode(draft.operations), made: entry.made, number: entry.number, label: entry.label,
        madeAt: ambient.now())
    }
  }

  /// The rows that an entry touches.
  func touched(_ made: Int64) throws -> [RowKey] { try Subjects.of(made, on: connection).touched }

  /// Takes an entry out of the outbox, with its place in the index of what is touched.
  func remove(_ made: Int64) throws {
    try Subjects.of(made, on: connection).sorted.removeFromIndex(made, on: connection)
    try connection.run("DELETE FROM skerry_outbox WHERE made = ?", .integer(made))
  }

  /// Notes that an entry failed when it was offered alone.
  package func noteFailure(_ id: MutationID, _ error: String) throws {
    try transaction {
      try connection.run(
        "UPDATE skerry_outbox SET attempts = attempts + 1, error = ? WHERE mid = ?", .text(error), .blob(id.raw.bytes))
    }
  }

  /// Sets an entry aside: it is offered no more until a person says so, and is seen as failed.
  package func setAside(_ id: MutationID) throws {
    try transaction {
      try connection.run("UPDATE skerry_outbox SET failed = 1 WHERE mid = ?", .blob(id.raw.bytes))
      if let entry = try entry(id) {
        try DecisionLog.write([PastDecision(.setAside, entry, at: ambient.now(), catalog)], connection)
      }
    }
  }

  /// Takes an entry up again that was set aside.
  package func retry(_ id: MutationID) throws {
    try transaction {
      let count = try connection.run(
        "UPDATE skerry_outbox SET failed = 0, attempts = 0, error = NULL WHERE mid = ?", .blob(id.raw.bytes))
      if count == 0 { throw StoreError(.notFound, "mutation \(id) is not in the outbox") }
    }
  }

  /// Forgets everything that is kept in memory only, as the death of the process would.
  package func forgetAnswers() { answered.removeAll() }
}
