// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
package import SkerryModel
package import SkerryStore

/// A store with its session, whose messages somebody else carries.
package final class WorldDevice {
  package let name: String
  package let user: AccountID
  package let store: Store
  package let session: SyncSession

  init(name: String, user: AccountID, store: Store, policy: TimingPolicy) {
    self.name = name
    self.user = user
    self.store = store
    session = SyncSession(store, policy: policy)
  }

  /// The visible rows as text.
  package func screen() throws -> String { try store.withConnection { try RowText.all(store.catalog, $0) } }

  /// Outbox, rows and refusals as text.
  func describe() throws -> String {
    let refusals = try store.rejections().map { "  refused: \($0.code?.text ?? "-")\n" }
    return "\(name) (\(user)), outbox \(try store.outboxCount())\n" + (try screen()) + refusals.joined()
  }
}
