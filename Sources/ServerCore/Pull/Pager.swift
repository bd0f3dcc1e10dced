// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel

/// Reads a page: what one user may see of the log after a cursor.
///
/// It decides by sequenced state only (spaces, membership, receipts), and ends before the first row that has a capture which
/// is not sequenced in its own snapshot: such a row's content is newer than its position, and skipping it would show half of
/// what was committed together.
struct Pager {
  let catalog: Catalog
  let transaction: any StorageTransaction
  let user: AccountID
  /// The version of the schema by which the device reads it.
  let schema: Int
  let limit: Int

  private let history: History
  private let unsequenced: Set<Capture.Subject>
  private let transitions: [MembershipEntry]

  init(
    _ catalog: Catalog, _ transaction: any StorageTransaction, user: AccountID, schema: Int, limit: Int
  ) throws {
    self.catalog = catalog
    self.transaction = transaction
    self.user = user
    self.schema = schema
    self.limit = min(max(limit, 1), Limits.pageItems)
    history = try transaction.history()
    unsequenced = try transaction.hasCaptures() ? Set(transaction.captures().map(\.subject)) : []
    transitions = try transaction.memberships(of: user)
  }

  private enum Line {
    case entry(SpaceID, LogEntry)
    case member(MembershipEntry)

    var position: Int64 {
      switch self {
      case .entry(_, let entry): entry.position
      case .member(let entry): entry.position
      }
    }
  }

  /// Why a cursor cannot be served by a delta; nil if it can.
  func resetReason(_ cursor: Cursor?) throws -> ResetReason? { try history.resetReason(cursor, in: transaction) }

  /// Begins a refill of all that the user may see.
  func reset(_ reason: ResetReason, replicas: [ReplicaID]) throws -> Reset {
    let inside = transitions.filter(\.isInside).map(\.space)
    let spaces = [.user(user)] + Set(inside + catalog.openSpaces).sorted()
    // Receipts come first: a replica holds back the rows that its outbox touches until it has them.
    let open = (replicas.map { SpaceID.replica($0) } + spaces).map { OpenSpace(space: $0, target: history.head) }
    return Reset(reason: reason, spaces: spaces, cursor: try cursor(at: history.head, owner: replicas, open: open))
  }

  /// The next page after a cursor that can be served, and whether the log holds more than it could take.
  func page(after cursor: Cursor, replicas: [ReplicaID]) throws -> (page: Page, isCut: Bool) {
    let owed = owed(after: cursor, replicas: replicas)
    let lines = try changes(after: cursor, owed: owed)
    let firstUnready = lines.firstIndex { line in
      guard case .entry(_, let entry) = line else { return false }
      return entry.kind == .live && unsequenced.contains(entry.subject)
    }
    let stop = min(limit, firstUnready ?? limit)
    // A forged cursor may name any number of spaces: those that are not the user's are dropped before anything is done.
    var open = cursor.open.filter { owed[$0.space] != nil }
    var items = PageItems()
    var taken = 0
    for line in lines.prefix(stop) where !items.isFull {
      try append(line, to: &items, &open, owed)
      taken += 1
    }
    let isCut = lines.count > taken
    let position = isCut ? (taken > 0 ? lines[taken - 1].position : cursor.position) : history.head
    var again = cursor.again
    let room = isCut ? 0 : max(1, limit - taken)
    let before = items.list.count
    if let range = again, room > 0 { again = try sendAgain(range, except: open, owed, room: room, &items) }
    open = try fill(open, room: again == nil ? max(0, room - (items.list.count - before)) : 0, &items)
    let next = try self.cursor(at: position, owner: replicas, open: open, again: again)
    return (Page(items: items.list, cursor: next, closes: false, safe: history.safe), isCut)
  }

  /// The sums of the user's spaces: of all if they are few, otherwise of those that changed since a cursor or were being
  /// filled.
  func digests(since cursor: Cursor, replicas: [ReplicaID]) throws -> [SpaceID: SpaceDigest] {
    var out: [SpaceID: SpaceDigest] = [:]
    let spaces = owed(after: cursor, replicas: [])
    let open = Set(cursor.open.lazy.map(\.space).filter { spaces[$0] != nil })
    for space in spaces.keys {
      let head = try transaction.head(of: space)
      if spaces.count <= 32 || head.position > cursor.position || open.contains(space) {
        out[space] = head.digest
      }
    }
    return out
  }

  /// After which position each space is owed: one that was gained at a position is filled up to there.
  private func owed(after cursor: Cursor, replicas: [ReplicaID]) -> [SpaceID: Int64] {
    var out: [SpaceID: Int64] = [:]
    for entry in transitions where entry.isInside { out[entry.space] = max(cursor.position, entry.position) }
    for space in [.user(user)] + catalog.openSpaces { out[space] = cursor.position }
    for replica in replicas { out[.replica(replica)] = cursor.position }
    return out
  }

  /// One line more than the limit tells that there are more.
  private func changes(after cursor: Cursor, owed: [SpaceID: Int64]) throws -> [Line] {
    var lines = transitions.filter { $0.position > cursor.position }.map(Line.member)
    for (space, position) in owed where try transaction.head(of: space).position > position {
      lines += try transaction.entries(in: space, after: position, limit: limit + 1).map { Line.entry(space, $0) }
    }
    lines.sort { $0.position < $1.position }
    return Array(lines.prefix(limit + 1))
  }

  private func append(
    _ line: Line, to items: inout PageItems, _ open: inout [OpenSpace], _ owed: [SpaceID: Int64]
  ) throws {
    switch line {
    case .member(let entry):
      items.append(entry.isInside ? .gain(entry.space) : .lose(entry.space))
      open.removeAll { $0.space == entry.space }
      if entry.isInside { open.append(OpenSpace(space: entry.space, target: entry.position)) }
    case .entry(let space, let entry):
      switch (entry.kind, entry.subject) {
      case (.live, let subject): try put(subject, in: space, &items)
      case (.deleted, .row(let key)): items.append(.deleted(space, key))
      case (.left, .row(let key)):
        let still = try transaction.sequenced(key)?.spaces.filter { owed[$0] != nil }.sorted() ?? []
        items.append(.left(space, key, still: still))
      case (_, .receipt): break  // receipts never leave
      }
    }
  }

  /// Goes on with what is to be sent once more: rows that have changed since come as changes, and those of spaces that are being
  /// filled with the others of their space.
  ///
  /// - Returns: what is left of the range; nil if nothing is.
  private func sendAgain(
    _ range: PositionRange, except open: [OpenSpace], _ owed: [SpaceID: Int64], room: Int, _ items: inout PageItems
  ) throws -> PositionRange? {
    let filling = Set(open.map(\.space))
    var found: [(space: SpaceID, entry: LogEntry)] = []
    var end = range.upTo
    for space in owed.keys where !space.holdsReceipts && !filling.contains(space) {
      guard try transaction.head(of: space).position > range.after else { continue }
      let entries = try transaction.entries(in: space, after: range.after, limit: room + 1)
      // Beyond the end of a list that is cut, other spaces' entries would come before its own.
      if entries.count > room, let last = entries.last { end = min(end, last.position) }
      found += entries.map { (space, $0) }
    }
    found.sort { $0.entry.position < $1.entry.position }
    var done = range.after
    var sent = 0
    for (space, entry) in found where entry.position <= end {
      if items.isFull || sent == room || unsequenced.contains(entry.subject) {
        return PositionRange(after: done, upTo: range.upTo)
      }
      if entry.kind == .live {
        try put(entry.subject, in: space, &items)
        sent += 1
      }
      done = entry.position
    }
    return end < range.upTo ? PositionRange(after: end, upTo: range.upTo) : nil
  }

  /// Goes on filling the open spaces, which walks keys and never positions: rows that change meanwhile move to a new position
  /// and come as changes.
  private func fill(
    _ open: [OpenSpace], room: Int, _ items: inout PageItems
  ) throws -> [OpenSpace] {
    var room = room
    var left: [OpenSpace] = []
    for var space in open {
      guard room > 0 else {
        left.append(space)
        continue
      }
      let found = try transaction.liveSubjects(
        in: space.space, after: space.after, target: space.target, limit: room + 1)
      let ready = found.firstIndex { unsequenced.contains($0) } ?? room
      var taken = 0
      for subject in found.prefix(min(room, ready)) where !items.isFull {
        try put(subject, in: space.space, &items)
        taken += 1
      }
      if found.count <= taken {
        items.append(.filled(space.space))
      } else {
        if taken > 0 { space.after = found[taken - 1].rowKey }
        left.append(space)
      }
      room = max(0, room - found.count)
    }
    return left
  }

  private func put(_ subject: Capture.Subject, in space: SpaceID, _ items: inout PageItems) throws {
    switch subject {
    case .receipt(let key):
      guard let stored = try transaction.receipt(key) else { return }
      items.append(.receipt(space, stored.receipt))
    case .row(let key):
      guard let row = try transaction.row(key) else { return }
      let image = RowImage(key: key, version: row.version, incarnation: row.incarnation, values: row.values)
      items.append(.put(space, image))
    }
  }

  private func cursor(
    at position: Int64, owner: [ReplicaID], open: [OpenSpace], again: PositionRange? = nil
  ) throws -> Cursor {
    Cursor(
      epoch: history.epoch, position: position, head: history.head, nonce: try nonce(at: history.head) ?? "",
      owner: owner, open: open, schema: schema, again: again)
  }

  private func nonce(at position: Int64) throws -> String? { try History.nonce(at: position, in: transaction) }
}

extension History {
  /// Why a cursor cannot be served by a delta of this history; nil if it can.
  func resetReason(_ cursor: Cursor?, in transaction: any StorageTransaction) throws -> ResetReason? {
    guard let cursor else { return .first }
    if cursor.position < floor { return .expired }
    if cursor.epoch != epoch || cursor.head > head || cursor.position > cursor.head { return .history }
    return try History.nonce(at: cursor.head, in: transaction) == cursor.nonce ? nil : .history
  }

  /// No run has given position 0.
  static func nonce(at position: Int64, in transaction: any StorageTransaction) throws -> String? {
    position == 0 ? "" : try transaction.nonce(at: position)
  }
}

extension Capture.Subject {
  /// The key under which a cursor names it.
  var rowKey: RowKey {
    switch self {
    case .row(let key): key
    case .receipt(let key): key.rowKey
    }
  }
}

/// The items of a page that is being made, and what they weigh.
struct PageItems {
  private(set) var list: [PageItem] = []
  private var bytes = 0

  /// A page takes one row at least, however large.
  var isFull: Bool { bytes >= Limits.pageBytes }

  mutating func append(_ item: PageItem) {
    list.append(item)
    if case .put(_, let image) = item { bytes += image.values.reduce(256) { $0 + $1.messageBytes } }
  }
}
