// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
package import SkerryModel

/// One step of a sequencer run: what gets the next position.
package enum RunStep: Hashable, Sendable {
  case member(Membership, isInside: Bool)
  case entry(SpaceID, Capture.Subject, EntryKind)
}

/// Gives positions to committed captures, one run at a time, in one transaction.
///
/// A run takes the captures that its own snapshot shows, computes each row's spaces from that snapshot (the old set from its
/// own memory; children included when a parent's set changes), and moves the log entries, space heads, digests and
/// memberships. Positions are given after the commit of what they describe, so nothing can appear behind a cursor.
struct Sequencer {
  let catalog: Catalog
  let transaction: any StorageTransaction
  /// Reorders the enters, and the leaves after them. Any order is right; a simulation tries them all.
  let arrange: @Sendable ([RunStep]) -> [RunStep]

  private var memberships: Set<Membership> = []
  private var enters: [RunStep] = []
  private var leaves: [RunStep] = []
  private var digests: [SpaceID: SpaceDigest] = [:]
  private var seen: Set<RowKey> = []

  init(
    _ catalog: Catalog, _ transaction: any StorageTransaction, arrange: @escaping @Sendable ([RunStep]) -> [RunStep]
  ) {
    self.catalog = catalog
    self.transaction = transaction
    self.arrange = arrange
  }

  /// Sequences everything that is captured.
  ///
  /// - Returns: whether there was anything.
  mutating func run(nonce: () -> String) throws -> Bool {
    let captures = try transaction.captures()
    if captures.isEmpty { return false }
    var rows: Set<RowKey> = []
    var receipts: Set<ReceiptKey> = []
    for capture in captures {
      switch capture.subject {
      case .row(let key): rows.insert(key)
      case .receipt(let key): receipts.insert(key)
      }
    }
    for key in rows.sorted() { try visit(key, changed: rows) }
    for key in receipts.sorted() {
      for home in try transaction.homes(of: key).sorted() {
        enters.append(.entry(.replica(home), .receipt(key), .live))
      }
    }
    let steps = arrange(try transitions() + enters + leaves)
    try carryOut(steps, nonce: nonce())
    try transaction.removeCaptures(captures.map(\.number))
    return true
  }

  /// Compares a row's spaces with those of the last run, and goes on to its children if they differ.
  private mutating func visit(_ key: RowKey, changed: Set<RowKey>) throws {
    guard seen.insert(key).inserted, let table = catalog.table(key.table) else { return }
    let old = try transaction.sequenced(key)
    let row = try transaction.row(key)
    let new = try row.map { try currentSpaces.spaces(of: $0.values, in: table) } ?? []
    let oldSpaces = old?.spaces ?? []
    if changed.contains(key) || oldSpaces != new {
      for space in new.sorted() { enters.append(.entry(space, .row(key), .live)) }
      for space in oldSpaces.subtracting(new).sorted() {
        leaves.append(.entry(space, .row(key), row == nil ? .deleted : .left))
      }
      let memory = row.map { remember($0, key, table, new) }
      memberships.formUnion((old?.memberships ?? []) + (memory?.memberships ?? []))
      try moveDigests(from: old, to: memory)
      try transaction.setSequenced(key, memory)
    }
    guard oldSpaces != new else { return }
    for child in try transaction.children(of: key) { try visit(child, changed: changed) }
  }

  private var currentSpaces: Spaces { Spaces(catalog) { [transaction] in try transaction.row($0)?.values } }

  private func remember(_ row: RowState, _ key: RowKey, _ table: TableInfo, _ spaces: Set<SpaceID>) -> SequencedRow {
    let image = RowImage(key: key, version: row.version, incarnation: row.incarnation, values: row.values)
    let granted = table.memberships.compactMap { info -> Membership? in
      guard let space = row.values[info.space].text, let user = row.values[info.user].text else { return nil }
      let name = SpaceID(kind: info.kind, id: space)
      return IDText.isSpace(name.text.utf8) ? Membership(user: AccountID(user), space: name) : nil
    }
    return SequencedRow(spaces: spaces, hash: RowHash(of: image, in: table), memberships: granted)
  }

  private mutating func moveDigests(from old: SequencedRow?, to new: SequencedRow?) throws {
    for space in (old?.spaces ?? []).union(new?.spaces ?? []) {
      var digest = try digests[space] ?? transaction.head(of: space).digest
      if let old, old.spaces.contains(space) { digest.remove(old.hash) }
      if let new, new.spaces.contains(space) { digest.add(new.hash) }
      digests[space] = digest
    }
  }

  /// A membership's entry moves only on a real transition: two rows may give the same one.
  private func transitions() throws -> [RunStep] {
    try memberships.sorted().compactMap { membership in
      let isInside = try transaction.isMember(membership.user, of: membership.space)
      let was = try transaction.membership(membership)?.isInside ?? false
      return isInside == was ? nil : .member(membership, isInside: isInside)
    }
  }

  private func carryOut(_ steps: [RunStep], nonce: String) throws {
    var history = try transaction.history()
    var heads: [SpaceID: Int64] = [:]
    for step in steps {
      history.head += 1
      switch step {
      case .member(let membership, let isInside):
        try transaction.setMembership(membership, at: history.head, isInside: isInside)
      case .entry(let space, .row(let key), let kind):
        try transaction.setEntry(space, key, at: history.head, kind)
        heads[space] = history.head
      case .entry(let space, .receipt(let key), _):
        try transaction.setPosition(history.head, of: key, in: ReplicaID(String(space.id)))
        heads[space] = history.head
      }
    }
    for (space, position) in heads.sorted(by: { $0.key < $1.key }) {
      try transaction.setHead(of: space, position: position, digest: digests[space] ?? SpaceDigest())
    }
    try transaction.setHistory(history)
    try transaction.addRun(last: history.head, nonce: nonce)
  }
}
