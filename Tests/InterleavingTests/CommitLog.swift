// SPDX-License-Identifier: Apache-2.0

/// What has been committed on the server, transaction by transaction, as the writers told it: who wrote what together, and
/// what each account could see after each commit. It knows nothing of captures, positions or pages.
struct CommitLog {
  /// How a row stood from one commit on.
  struct Version {
    let commit: Int
    /// Nil while there is no such row.
    let token: Int?
    let spaces: SpaceBits
  }

  private struct Sight {
    let commit: Int
    let spaces: SpaceBits
  }

  /// The number of commits so far; the state before the first has number 0.
  private(set) var commits = 0
  private(set) var rows: [Content?] = Array(repeating: nil, count: Place.count)
  /// The rows that each token's transaction wrote or deleted, and when it was committed.
  private(set) var written: [Int: (commit: Int, rows: [Int])] = [:]
  private var versions: [[Version]] = Array(
    repeating: [Version(commit: 0, token: nil, spaces: [])], count: Place.count)
  private var sights: [[Sight]] = SpaceBits.own.map { [Sight(commit: 0, spaces: $0)] }

  /// Notes a transaction: rows with their new content, nil for those it deleted.
  mutating func commit(_ token: Int, _ changes: [(row: Int, content: Content?)]) {
    commits += 1
    written[token] = (commits, changes.map(\.row))
    var touched: Set<Int> = []
    for (row, content) in changes {
      rows[row] = content
      touched.insert(row)
    }
    for row in Place.items where touched.contains(row) { note(row) }
    for row in Place.notes { note(row) }
    for row in Place.parts { note(row) }
    if Place.members.contains(where: touched.contains) {
      for row in Place.members { note(row) }
      for user in Place.users.indices { look(user) }
    }
  }

  private mutating func note(_ row: Int) {
    let spaces = spaces(of: row)
    if let last = versions[row].last, last.token == rows[row]?.token, last.spaces == spaces { return }
    versions[row].append(Version(commit: commits, token: rows[row]?.token, spaces: spaces))
  }

  private mutating func look(_ user: Int) {
    var spaces = SpaceBits.own[user]
    for row in Place.members {
      if let member = rows[row], member.user == user { spaces.formUnion(member.home) }
    }
    if sights[user].last?.spaces != spaces { sights[user].append(Sight(commit: commits, spaces: spaces)) }
  }

  /// The rule for spaces, written by hand.
  private func spaces(of row: Int) -> SpaceBits {
    guard let content = rows[row] else { return [] }
    if Place.items.contains(row) { return content.home.union(content.also) }
    if Place.members.contains(row) { return content.home }
    return content.parent < 0 ? [] : spaces(of: content.parent)
  }

  // MARK: Looking back

  func version(_ row: Int, at commit: Int) -> Version {
    let history = versions[row]
    var index = history.count - 1
    while history[index].commit > commit { index -= 1 }
    return history[index]
  }

  func sight(_ user: Int, at commit: Int) -> SpaceBits {
    let history = sights[user]
    var index = history.count - 1
    while history[index].commit > commit { index -= 1 }
    return history[index].spaces
  }

  /// The token that a user sees in a row after a commit; nil if they do not see the row.
  func seen(_ row: Int, by user: Int, at commit: Int) -> Int? {
    let version = version(row, at: commit)
    return version.spaces.isDisjoint(with: sight(user, at: commit)) ? nil : version.token
  }

  /// Whether a user could not see a row after some commit between two, both included.
  func wasHidden(_ row: Int, from user: Int, since first: Int, until last: Int) -> Bool {
    var commit = last
    while commit >= first {
      if seen(row, by: user, at: commit) == nil { return true }
      // Nothing changed about the row or the user's sight since the later of these two.
      let before = max(version(row, at: commit).commit, sightCommit(user, at: commit))
      commit = before - 1
    }
    return false
  }

  private func sightCommit(_ user: Int, at commit: Int) -> Int {
    sights[user].last { $0.commit <= commit }?.commit ?? 0
  }
}
