// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel

/// What an account may see of a server's rows, by the schema's rules and the rows alone: it knows nothing of the log, the
/// memberships and the cursors by which the server finds it.
struct AccountScope {
  /// The spaces that the account is in.
  let spaces: Set<SpaceID>
  private let catalog: Catalog
  private let rows: [RowKey: [Value]]

  init(_ catalog: Catalog, _ rows: [RowKey: [Value]], account: AccountID) {
    self.catalog = catalog
    self.rows = rows
    var spaces: Set<SpaceID> = [.user(account)]
    spaces.formUnion(catalog.openSpaces)
    for (key, values) in rows {
      for membership in catalog.table(key.table)?.memberships ?? [] {
        guard values[membership.user].text.map(AccountID.init) == account, let id = values[membership.space].text
        else { continue }
        spaces.insert(SpaceID(kind: membership.kind, id: id))
      }
    }
    self.spaces = spaces
  }

  /// The rows that are in one of its spaces at least.
  func visible() throws -> [RowKey: [Value]] {
    let rules = Spaces(catalog) { rows[$0] }
    return try rows.filter { try !rules.spaces(of: $0.key).isDisjoint(with: spaces) }
  }
}
