// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerryWire

/// Why a request is refused as a whole, before anything of it is judged.
package enum RequestError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The device's schema is not one that the server understands.
  case otherSchema(found: String, expected: String, remedy: String)
  /// A replica id belongs to another account.
  case foreignReplica
  /// More mutations, operations or replica ids than one request may carry.
  case tooMuch(String)

  package var description: String {
    switch self {
    case .otherSchema(let found, let expected, let remedy): "schema \(found) found, \(expected) expected; \(remedy)"
    case .foreignReplica: "a replica id of this request belongs to another account; the device needs a new one"
    case .tooMuch(let what): what
    }
  }
}

/// The server: judges what devices push, sequences what anyone wrote, and answers pulls.
///
/// It keeps nothing in memory that correctness needs, knows no tokens (the caller says who asks), and may be called from any
/// number of threads and run in any number of processes on one storage.
package final class SyncServer: Sendable {
  package let catalog: Catalog
  let storage: any Storage
  private let ambient: any Ambient
  private let arrange: @Sendable ([RunStep]) -> [RunStep]
  private let dialects: Dialects

  /// - Parameter arrange: reorders the steps of a sequencer run, for simulations; see `Sequencer`.
  package init(
    catalog: Catalog, storage: any Storage, ambient: any Ambient,
    arrange: @escaping @Sendable ([RunStep]) -> [RunStep] = { $0 }
  ) {
    self.catalog = catalog
    self.storage = storage
    self.ambient = ambient
    self.arrange = arrange
    dialects = Dialects(catalog, storage)
  }

  /// How devices of a version of the schema speak.
  ///
  /// - Throws: `RequestError.otherSchema`, or what the storage throws.
  package func dialect(_ stamp: SchemaStamp) throws -> Dialect { try dialects.dialect(stamp) }

  /// Judges the mutations of one replica, in order, each as a transaction of its own within one that they share.
  ///
  /// - Returns: a verdict for each; the list ends early at `identityReused`.
  /// - Throws: `RequestError`, or what the storage throws; nothing of the request has happened then.
  package func push(_ request: PushRequest, as user: AccountID) throws -> PushAnswer {
    let dialect = try dialect(request.schema)
    if request.mutations.count > Limits.batchMutations {
      throw RequestError.tooMuch("more than \(Limits.batchMutations) mutations in one push")
    }
    do {
      return PushAnswer(verdicts: try storage.write { try judge(request, dialect, as: user, in: $0) })
    } catch StorageError.busy {
      return PushAnswer(verdicts: request.mutations.map { .busy($0.id) })
    }
  }

  private func judge(
    _ request: PushRequest, _ dialect: Dialect, as user: AccountID, in transaction: any StorageTransaction
  ) throws -> [Verdict] {
    guard try claim(request.replica, for: user, in: transaction) else { return [.forbidden] }
    if let cursor = request.cursor, try transaction.history().resetReason(cursor, in: transaction) != nil {
      return [.otherHistory]
    }
    try transaction.settle(request.replica, upTo: request.settled)
    let judge = Judge(
      catalog: catalog, transaction: transaction, user: user, replica: request.replica, dialect: dialect)
    var verdicts: [Verdict] = []
    for mutation in request.mutations {
      do {
        verdicts.append(try transaction.savepoint { try judge.judge(mutation) })
      } catch StorageError.busy {
        verdicts.append(.busy(mutation.id))
      }
      if case .identityReused = verdicts.last { break }
    }
    return verdicts
  }

  /// Answers with the next page, or with a reset if the cursor cannot be served by a delta.
  ///
  /// What is captured is sequenced before. The page that closes a catch-up is read where nothing is left to sequence: in a
  /// snapshot without captures, or in the sequencer's own transaction.
  package func pull(_ request: PullRequest, as user: AccountID) throws -> PullAnswer {
    try pull(request, by: dialect(request.schema), as: user)
  }

  /// - Parameter dialect: of the request's schema.
  package func pull(_ request: PullRequest, by dialect: Dialect, as user: AccountID) throws -> PullAnswer {
    var request = request
    request.cursor = request.cursor.map(dialect.resumed)
    if request.replicas.isEmpty || request.replicas.count > Limits.replicaIDs {
      throw RequestError.tooMuch("1 to \(Limits.replicaIDs) replica ids wanted, \(request.replicas.count) found")
    }
    if let open = request.cursor?.open.count, open > Limits.openSpaces {
      throw RequestError.tooMuch("a cursor with more than \(Limits.openSpaces) open spaces")
    }
    let answer =
      try settleAndClose(request, dialect, as: user) ?? sequenceAndClose(request, dialect, as: user)
      ?? openAnswer(request, dialect, as: user)
    guard case .page(var page) = answer else { return answer }
    page.items = dialect.items(page.items)
    return .page(page)
  }

  /// A page that may end before the consistent point, or a reset.
  private func openAnswer(_ request: PullRequest, _ dialect: Dialect, as user: AccountID) throws -> PullAnswer {
    try storage.read { transaction in
      let pager = try pager(request, dialect, transaction, as: user)
      if let reason = try pager.resetReason(request.cursor) {
        return .reset(try pager.reset(reason, replicas: request.replicas))
      }
      guard let cursor = request.cursor else { return .reset(try pager.reset(.first, replicas: request.replicas)) }
      return .page(try pager.page(after: cursor, replicas: request.replicas).page)
    }
  }

  private func pager(
    _ request: PullRequest, _ dialect: Dialect, _ transaction: any StorageTransaction, as user: AccountID
  ) throws -> Pager {
    try Pager(catalog, transaction, user: user, schema: dialect.catalog.schema.version, limit: request.limit)
  }

  /// Nil when something is to be sequenced. Nearly always nothing is, and nothing to be settled: then all is one snapshot.
  private func settleAndClose(
    _ request: PullRequest, _ dialect: Dialect, as user: AccountID
  ) throws -> PullAnswer? {
    let (isSettled, answer): (Bool, PullAnswer?) = try storage.read { transaction in
      guard try self.isSettled(request, as: user, in: transaction) else { return (false, nil) }
      return (true, try closingAnswer(request, dialect, as: user, in: transaction, isSequencer: false))
    }
    if isSettled { return answer }
    try settle(request, as: user)
    return try storage.read { try closingAnswer(request, dialect, as: user, in: $0, isSequencer: false) }
  }

  /// Nil when the database is busy, when the page is cut, or when the cursor cannot be served: then the page, or the reset,
  /// is read in a transaction that holds nobody up.
  private func sequenceAndClose(
    _ request: PullRequest, _ dialect: Dialect, as user: AccountID
  ) throws -> PullAnswer? {
    do {
      return try storage.writeSoon { transaction in
        try sequence(in: transaction)
        return try closingAnswer(request, dialect, as: user, in: transaction, isSequencer: true)
      }
    } catch StorageError.busy {
      return nil
    }
  }

  private func closingAnswer(
    _ request: PullRequest, _ dialect: Dialect, as user: AccountID, in transaction: any StorageTransaction,
    isSequencer: Bool
  ) throws -> PullAnswer? {
    if !isSequencer, try transaction.hasCaptures() { return nil }
    let pager = try pager(request, dialect, transaction, as: user)
    if let reason = try pager.resetReason(request.cursor) {
      return isSequencer ? nil : .reset(try pager.reset(reason, replicas: request.replicas))
    }
    guard let cursor = request.cursor else { return nil }
    var (page, isCut) = try pager.page(after: cursor, replicas: request.replicas)
    if isCut { return isSequencer ? nil : .page(page) }
    page.closes = true
    if page.cursor.isWhole, dialect.isOwn {
      page.digests = try pager.digests(since: cursor, replicas: request.replicas)
    }
    return .page(page)
  }

  /// Gives positions to all that is captured. Safe at any time, from any process.
  ///
  /// - Returns: whether there was anything.
  @discardableResult
  package func sequence() throws -> Bool {
    if try !storage.read({ try $0.hasCaptures() }) { return false }
    return try storage.write { try sequence(in: $0) }
  }

  @discardableResult
  private func sequence(in transaction: any StorageTransaction) throws -> Bool {
    try SyncServer.sequence(in: transaction, by: catalog, ambient, arrange: arrange)
  }

  /// One run of the sequencer in a transaction that is open. A storage calls it when a later schema has made it forget what
  /// was derived, so that no pull finds spaces and memberships missing.
  ///
  /// - Returns: whether there was anything.
  @discardableResult
  package static func sequence(
    in transaction: any StorageTransaction, by catalog: Catalog, _ ambient: any Ambient,
    arrange: @escaping @Sendable ([RunStep]) -> [RunStep] = { $0 }
  ) throws -> Bool {
    var sequencer = Sequencer(catalog, transaction, arrange: arrange)
    return try sequencer.run { Hex.text(withUnsafeBytes(of: ambient.random().bigEndian) { Array($0) }) }
  }

  /// Whether the request's replicas are known and its settled mark is kept.
  private func isSettled(
    _ request: PullRequest, as user: AccountID, in transaction: any StorageTransaction
  ) throws -> Bool {
    guard let current = request.replicas.last else { return true }
    var isKnown = true
    // All of them are looked at, known or not: to settle may find the database busy, and the pull goes on.
    for replica in request.replicas {
      let owner = try transaction.owner(of: replica)
      if let owner, owner != user { throw RequestError.foreignReplica }
      isKnown = isKnown && owner != nil
    }
    return try isKnown && transaction.settled(current) >= request.settled
      && !transaction.hasUnshrunkReceipts(current, upTo: request.settled)
  }

  /// Makes the request's replicas known and moves the settled mark.
  private func settle(_ request: PullRequest, as user: AccountID) throws {
    guard let current = request.replicas.last else { return }
    do {
      try storage.writeSoon { transaction in
        for replica in request.replicas where try !claim(replica, for: user, in: transaction) {
          throw RequestError.foreignReplica
        }
        try transaction.settle(current, upTo: request.settled)
      }
    } catch StorageError.busy {
      // The mark only saves space, and the next request carries it again.
    }
  }

  /// Whether the replica belongs to the account; one that nobody owns does from now on.
  private func claim(
    _ replica: ReplicaID, for user: AccountID, in transaction: any StorageTransaction
  ) throws -> Bool {
    if let owner = try transaction.owner(of: replica) { return owner == user }
    try transaction.register(replica, of: user)
    return true
  }
}
