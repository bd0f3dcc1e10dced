// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerryStore

extension MortalWorld {
  /// The bit of the write that follows a fault, to see that no number is given twice.
  static let next = 30

  /// With another write on a device, all go on until nothing is left to do.
  ///
  /// - Parameter isCopied: whether a device's file was copied, so that it may take a new id.
  /// - Returns: what is wrong then.
  func goOn(isCopied: Bool) -> [String] {
    do {
      if try store("ana").syncedAt == nil { try round("ana") }  // a device that is new has nothing to count in
      try write("ana", MortalWorld.next, isMarked: false)
      for name in names {
        let store = try store(name)
        for entry in try store.outbox() where entry.state == .failed { try store.retry(entry.id) }
      }
      let replicas = try names.map { try store($0).replicaIDs.count }
      try settle()
      let after = try names.map { try store($0).replicaIDs.count }
      let isNew = after == replicas || isCopied
      return try WorldAudit.faultsAtRest(self) + (isNew ? [] : ["a number was used twice"])
    } catch { return ["\(error)"] }
  }
}
