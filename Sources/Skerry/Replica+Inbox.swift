// SPDX-License-Identifier: Apache-2.0

public import SkerryModel
public import SkerryStore

extension Replica {
  /// Removes a refusal that a person has seen.
  public func acknowledge(_ rejection: Rejection) throws { try store.acknowledge(rejection.id) }

  /// Removes the report of a lost space.
  public func acknowledgeLoss(of space: SpaceID) throws { try store.acknowledgeLoss(of: space) }

  /// Withdraws a mutation that has no outcome yet. If it was sent, whichever reaches the server first decides.
  ///
  /// - Throws: `StoreError` with code `notFound` or `frozen`.
  public func discard(_ entry: OutboxEntry) throws {
    try store.discard(entry.id)
    changed()
  }

  /// Offers an entry again that was set aside.
  ///
  /// - Throws: `StoreError` with code `notFound`.
  public func retry(_ entry: OutboxEntry) throws {
    try store.retry(entry.id)
    changed()
  }

  /// What is true of the replica now.
  public func facts() throws -> ReplicaFacts {
    ReplicaFacts(
      pending: try store.outboxCount(), syncedAt: store.syncedAt, isCatchingUp: store.isCatchingUp,
      digestMismatches: store.digestMismatches, unconfirmed: try store.unconfirmedCount())
  }

  /// The digest of the confirmed rows of each space, as it is kept with every change.
  public func digests() throws -> [SpaceID: SpaceDigest] { try store.digests() }
}
