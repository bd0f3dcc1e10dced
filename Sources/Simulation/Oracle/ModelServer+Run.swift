// SPDX-License-Identifier: Apache-2.0

import SkerryModel

extension ModelServer {
  /// All rows at the end of a run of the sequencer, and what follows from them, worked out when it is first asked for.
  final class Run {
    let rows: [RowKey: Version]
    let index: Int
    /// The mutations whose receipts had been given a position by then.
    let judged: Set<ReceiptName>
    private var spaces: [RowKey: Set<SpaceID>]?
    private var spacesOfUsers: [AccountID: Set<SpaceID>] = [:]
    private var scopes: [AccountID: [RowKey: Set<SpaceID>]] = [:]
    private let rules: Rules

    /// For each user, how often the spaces that they are in had changed by then.
    private(set) var accessMarks: [AccountID: Int] = [:]

    init(_ rows: [RowKey: Version], _ index: Int, _ judged: Set<ReceiptName>, _ rules: Rules) {
      self.rows = rows
      self.index = index
      self.judged = judged
      self.rules = rules
    }

    func noteAccess(of users: Set<AccountID>, since before: Run?) {
      for user in users {
        let isSame = before.map { $0.spaces(of: user) == spaces(of: user) } ?? true
        accessMarks[user] = (before?.accessMarks[user] ?? 0) + (isSame ? 0 : 1)
      }
    }

    func spaces(of user: AccountID) -> Set<SpaceID> {
      if let known = spacesOfUsers[user] { return known }
      let found = rules.spaces(of: user, in: rows)
      spacesOfUsers[user] = found
      return found
    }

    func spaces(of key: RowKey) -> Set<SpaceID> {
      if let known = spaces?[key] { return known }
      if spaces == nil { spaces = [:] }
      let found = rules.spaces(key, { self.rows[$0]?.values })
      spaces?[key] = found
      return found
    }

    /// The rows that a user may see, each with those of its spaces that they are in.
    func scope(of user: AccountID) -> [RowKey: Set<SpaceID>] {
      if let known = scopes[user] { return known }
      let mine = spaces(of: user)
      var out: [RowKey: Set<SpaceID>] = [:]
      for key in rows.keys {
        let found = spaces(of: key).intersection(mine)
        if !found.isEmpty { out[key] = found }
      }
      scopes[user] = out
      return out
    }
  }
}
