// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryWire

/// The server as it should be: every commit, every verdict and every run of the sequencer, by definition and for ever.
///
/// It is told what was asked of the server and what the files say afterwards, predicts both, and objects to any difference.
final class ModelServer {
  struct Judged: Hashable {
    let outcome: Outcome
    let code: RefusalCode?
  }

  struct ReceiptName: Hashable {
    let user: AccountID
    let mutation: MutationID
  }

  /// What a backup holds.
  struct Image {
    fileprivate let rows: [RowKey: Version]
    fileprivate let receipts: [ReceiptName: Judged]
    fileprivate let run: String
    fileprivate let lineage: Set<String>
    fileprivate let owners: [ReplicaID: AccountID]
  }

  let rules: Rules
  private(set) var rows: [RowKey: Version] = [:]
  private var versions: [RowKey: [VersionTag: [Version]]] = [:]
  private(set) var receipts: [ReceiptName: Judged] = [:]
  /// Verdicts in any history, lost ones too.
  private(set) var everJudged: [ReceiptName: Set<Judged>] = [:]
  /// Verdicts that are in a backup whose position was ever called safe.
  private var safeReceipts: Set<ReceiptName> = []
  private(set) var runs: [String: Run] = [:]
  private(set) var lastRun = ""
  /// The runs of the history that the server has now.
  private(set) var lineage: Set<String> = [""]
  /// The highest safe mark that a page may name.
  private(set) var safe: Int64 = 0
  private var commits = 0
  private(set) var ended: Set<RowLife> = []
  /// Histories that were lost: with one, more is forgiven.
  private(set) var lostTails = 0

  struct RowLife: Hashable {
    let key: RowKey
    let incarnation: Incarnation
  }

  init(_ schema: Schema) {
    rules = Rules(schema)
    runs[""] = Run([:], 0, [], rules)
  }

  var image: Image { Image(rows: rows, receipts: receipts, run: lastRun, lineage: lineage, owners: owners) }

  func goBack(to image: Image) {
    rows = image.rows
    receipts = image.receipts
    lastRun = image.run
    (lineage, owners) = (image.lineage, image.owners)
    lostTails += 1
  }

  /// The versions that were written under a tag, newest last; more than one only where histories were lost.
  func versions(_ key: RowKey, _ tag: VersionTag) -> [Version] { versions[key]?[tag] ?? [] }

  /// Whose each replica is: the first account that named it.
  private(set) var owners: [ReplicaID: AccountID] = [:]
  func own(_ replica: ReplicaID, _ user: AccountID) { if owners[replica] == nil { owners[replica] = user } }

  // MARK: Commits

  private func put(_ key: RowKey, _ row: Row?) throws {
    if let old = rows[key], row?.incarnation != old.incarnation {
      ended.insert(RowLife(key: key, incarnation: old.incarnation))
    }
    guard let row else {
      rows[key] = nil
      return
    }
    commits += 1
    try need(Set(row.ink).count == row.ink.count, "I-4 applied twice", "\(key) \(row.ink)")
    let version = Version(
      key: key, values: row.values, tag: row.tag, incarnation: row.incarnation, ink: row.ink, order: commits)
    rows[key] = version
    versions[key, default: [:]][row.tag, default: []].append(version)
  }

  /// Another program's transaction has committed; `now` are the rows as the file holds them afterwards.
  func committed(
    _ writes: [(key: RowKey, values: [Value]?, count: Int, isDeleted: Bool)], now: [RowKey: Row]
  ) throws {
    for (key, values, count, isDeleted) in writes {
      let found = now[key]
      try need(
        found?.values == values, "I-14 another program's row is not as it wrote it",
        "\(key) \(String(describing: found))")
      guard var row = found else {
        if rows[key] != nil { try put(key, nil) }
        continue
      }
      let old = rows[key]
      if let old, !isDeleted {
        try need(row.incarnation == old.incarnation, "INV 4 an update by another program began a new life", "\(key)")
      } else {
        let isNew =
          row.incarnation != old?.incarnation && !ended.contains(RowLife(key: key, incarnation: row.incarnation))
        try need(isNew, "INV 4 a new row has an old life", "\(key) \(row.incarnation)")
      }
      if let old, old.values == row.values {
        // One that was changed and changed back within the transaction was changed.
        if row.tag != old.tag, count > 1 {
          row.ink = old.ink
          try put(key, row)
          continue
        }
        try need(old.tag == row.tag, "D-7 an update that changes nothing was captured", "\(key)")
        continue
      }
      try need(row.tag != old?.tag, "F-S16 another program's write has no version of its own", "\(key)")
      // What went in before is still in there: a foreign write counts on what it found.
      if let old, old.incarnation == row.incarnation { row.ink = old.ink }
      try put(key, row)
    }
  }

  // MARK: Pushes

  /// A push has been carried out, or a process died over it.
  ///
  /// - Parameters:
  ///   - found: the receipts that the file holds now for its mutations.
  ///   - now: the rows that it touches as the file holds them now.
  func pushed(
    _ request: PushRequest, by user: AccountID, found: [MutationID: Judged], now: [RowKey: Row], isHostile: Bool
  ) throws {
    for mutation in request.mutations {
      let name = ReceiptName(user: user, mutation: mutation.id)
      if let known = receipts[name] {
        try need(found[mutation.id]?.outcome == known.outcome, "I-4 a verdict has changed", "\(mutation.id): \(known)")
        continue
      }
      guard let verdict = found[mutation.id] else { continue }
      try judge(mutation, user, verdict, name, isHostile: isHostile)
    }
    for (key, row) in now {
      let expected = rows[key]
      let isSame = expected.map { row.values == $0.values && row.tag == $0.tag && row.incarnation == $0.incarnation }
      try need(
        isSame == true, "I-14 a row is not what the rule makes of it",
        "\(key): \(row), expected \(Version.text(expected))")
    }
    let touched = Set(request.mutations.flatMap(\.operations).map(\.key))
    for key in touched where now[key] == nil {
      try need(rows[key] == nil, "I-3 a row is missing on the server", "\(key), expected \(Version.text(rows[key]))")
    }
  }

  private func judge(
    _ mutation: Mutation, _ user: AccountID, _ verdict: Judged, _ name: ReceiptName, isHostile: Bool
  ) throws {
    for predecessor in mutation.after {
      try need(
        receipts[ReceiptName(user: user, mutation: predecessor)] != nil, "I-10 judged before its predecessor",
        "\(mutation.id) after \(predecessor)")
    }
    let (expected, effects) = decide(mutation, user)
    let isForgiven = isHostile && verdict.outcome == .rejected && verdict.code == .invalid
    if !isForgiven {
      let agrees = verdict.outcome == expected.outcome && (verdict.code == nil || verdict.code == expected.code)
      try need(
        agrees,
        expected.code == .forbidden || verdict.code == .forbidden
          ? "INV 7 permission judged otherwise" : "I-14 judged otherwise than the rule",
        "\(mutation.id) of \(user): \(verdict), expected \(expected); \(mutation.operations)")
      if verdict.outcome == .confirmed { for (key, row) in effects { try put(key, row) } }
    }
    receipts[name] = verdict
    everJudged[name, default: []].insert(verdict)
  }

  /// The verdict by definition, and the rows that it leaves.
  private func decide(_ mutation: Mutation, _ user: AccountID) -> (Judged, [(RowKey, Row?)]) {
    func refused(_ code: RefusalCode) -> (Judged, [(RowKey, Row?)]) {
      (Judged(outcome: code == .stale ? .conflicted : .rejected, code: code), [])
    }
    if mutation.isVoid { return (Judged(outcome: .void, code: nil), []) }
    if receipts.contains(where: {
      $0.key.mutation == mutation.id && $0.key.user != user && $0.value.outcome == .confirmed
    }) {
      return refused(.taken)
    }
    let mine = rules.spaces(of: user, in: rows)
    var after: [RowKey: Row?] = [:]
    var order: [RowKey] = []
    for operation in mutation.operations {
      guard let row = rows[operation.key], row.incarnation == operation.incarnation else { continue }
      if spacesBefore(operation.key).isDisjoint(with: mine) { return refused(.forbidden) }
    }
    for (step, operation) in mutation.operations.enumerated() {
      let row = after[operation.key] ?? rows[operation.key].map { Row($0) }
      if after[operation.key] == nil { order.append(operation.key) }
      switch rules.apply(operation, at: step, of: mutation.id, to: row) {
      case .refused(let code): return refused(code)
      case .becomes(let next): after[operation.key] = .some(next)
      }
    }
    if !isAllowed(after, mine) { return refused(.forbidden) }
    return (Judged(outcome: .confirmed, code: nil), order.map { ($0, after[$0] ?? nil) })
  }

  private func spacesBefore(_ key: RowKey) -> Set<SpaceID> { rules.spaces(key, { self.rows[$0]?.values }) }

  /// DESIGN.md, section 3, "Permission": over every row whose spaces the mutation changes, whether it names it or not.
  private func isAllowed(_ after: [RowKey: Row?], _ mine: Set<SpaceID>) -> Bool {
    func later(_ key: RowKey) -> [Value]? { after[key].map { $0?.values } ?? rows[key]?.values }
    var opened: Set<SpaceID> = []
    for (key, row) in after where row != nil && rows[key] == nil {
      guard let id = key.values.first?.text, let table = rules.tables[key.table] else { continue }
      for kind in table.opens {
        let space = SpaceID(kind: kind, id: id)
        if !rules.isUsed(space, in: rows) { opened.insert(space) }
      }
    }
    let mayMove = after.keys.contains { key in
      rules.tables.values.contains { $0.parents.contains { $0.table == key.table } }
    }
    let concerned = mayMove ? Set(rows.keys).union(after.keys) : Set(after.keys)
    for key in concerned {
      let (was, isThere) = (rows[key] != nil, later(key) != nil)
      guard was || isThere else { continue }
      let (old, new) = (spacesBefore(key), rules.spaces(key, later))
      if after[key] == nil, old == new { continue }
      if was, old.isDisjoint(with: mine) { return false }
      if !was, new.isEmpty { return false }
      if !old.subtracting(new).isSubset(of: mine) { return false }
      if !new.subtracting(old).isSubset(of: mine.union(opened)) { return false }
    }
    return true
  }

  // MARK: Runs

  /// Whether a verdict is in every backup that a device may be asked to help after.
  func isSafe(_ name: ReceiptName) -> Bool { safeReceipts.contains(name) }

  /// A page may name a backup's position as safe from now on.
  func markSafe(_ image: Image, upTo position: Int64) {
    safe = max(safe, position)
    safeReceipts.formUnion(image.receipts.keys)
  }

  /// The file names a run that was not seen before: everything committed was given its positions.
  func sequenced(_ nonce: String) {
    lineage.insert(nonce)
    guard runs[nonce] == nil else {
      lastRun = nonce
      return
    }
    let run = Run(rows, runs.count, Set(receipts.keys), rules)
    run.noteAccess(of: Set(owners.values), since: runs[lastRun])
    runs[nonce] = run
    lastRun = nonce
  }
}

extension Version {
  static func text(_ version: Version?) -> String {
    version.map { "\($0.values.map(Version.text)) \($0.tag) \($0.incarnation)" } ?? "no row"
  }

  static func text(_ value: Value) -> String {
    switch value {
    case .null: "-"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    case .blob(let bytes): "x" + Hex.text(bytes)
    }
  }
}
