// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

extension SyncServer {
  /// Where the history stands.
  package func history() throws -> History { try storage.read { try $0.history() } }

  /// Removes the tombstones up to a position and raises the floor, in one transaction. A replica whose cursor is older is
  /// told that it expired, and refills.
  package func expire(upTo position: Int64) throws {
    try storage.write { transaction in
      var history = try transaction.history()
      let upTo = min(position, history.head)
      try transaction.removeTombstones(upTo: upTo)
      history.floor = max(history.floor, upTo)
      try transaction.setHistory(history)
    }
  }

  /// Tells devices that everything up to a position is in a backup: they forget what they kept in case it is lost.
  ///
  /// Call it only once that backup exists, with the position that the backup itself holds (`history().head` of a server
  /// that is opened on a copy of it). What was written since the backup's snapshot has a higher one, and is still offered
  /// again after a restore. The mark never goes back.
  package func markSafe(upTo position: Int64) throws {
    try storage.write { transaction in
      var history = try transaction.history()
      history.safe = max(history.safe, min(position, history.head))
      try transaction.setHistory(history)
    }
  }

  /// Begins a new epoch: after a restore, so that every replica reads anew and offers again what the backup lacks.
  package func beginEpoch(_ epoch: String) throws {
    try storage.write { transaction in
      var history = try transaction.history()
      history.epoch = epoch
      try transaction.setHistory(history)
    }
  }

  /// What a space adds up to by the sequencer's account.
  package func digest(of space: SpaceID) throws -> SpaceDigest {
    try storage.read { try $0.head(of: space).digest }
  }
}
