// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// How the model stands, as far as a history's events tell it by themselves; the files spell what is otherwise.
///
/// It follows the operations over rows and knows nothing of how pages are published: that the files tell.
struct HistoryState {
  struct Settled: Hashable {
    let user: String
    let mutation: Int
  }

  struct Version: Hashable {
    let key: Int
    let tag: HistoryTag
  }

  /// A request, or the answer to one.
  struct Message {
    let device: String
    var mutations: [Int] = []
    /// The open spaces of the cursor that a pull names.
    var open: [SpaceID] = []
    var answer: PullOutcome.Answer?
    var holdsVerdicts = false
  }

  private(set) var rows: HistoryRows
  /// The last row of the server that was this version.
  private(set) var versions: [Version: HistoryRow] = [:]
  var devices: [String: HistoryDevice] = [:]
  /// By number, from 1.
  var messages: [Message] = [Message(device: "")]
  private var images: [String: HistoryDevice] = [:]
  /// A later verdict only repeats the first.
  private var settled: Set<Settled> = []
  private var backup: (rows: HistoryRows, settled: Set<Settled>)
  private var operations: [Int: [HistoryOperation]] = [:]

  init(_ head: HistoryHead, _ names: HistoryNames) {
    rows = HistoryRows(count: names.keys.count)
    backup = (rows, [])
    for (name, user) in head.devices { devices[name] = HistoryDevice(name, user: user, rows: names.keys.count) }
  }

  func device(_ name: String) throws -> HistoryDevice {
    guard let device = devices[name] else { throw Difference("no device \(name)") }
    return device
  }

  /// The account of a replica: a device's, or the attacker's.
  func user(ofReplica name: String) throws -> String {
    name.hasPrefix("e") ? "u" + name.dropFirst() : try device(String(name.prefix { $0 != "~" })).user
  }

  mutating func put(_ key: Int, _ row: HistoryRow?) {
    rows[key] = row
    if let row { versions[Version(key: key, tag: row.version)] = row }
  }

  mutating func showImage(_ names: HistoryNames) -> String { rows.image(names) }

  // MARK: Users

  mutating func write(_ device: String, _ mutation: Int, _ written: [HistoryOperation]) {
    operations[mutation] = written
    devices[device]?.append(mutation)
    devices[device]?.screen.fold(written, mutation)
  }

  mutating func edit(_ device: String, _ mutation: Int, _ new: Int, _ written: [HistoryOperation]) {
    operations[new] = written
    devices[device]?.change(mutation) { $0.mutation = new }
    devices[device]?.screen.fold(written, new)
  }

  mutating func image(_ device: String) { images[device] = devices[device] }
  mutating func restore(_ device: String) { devices[device] = images[device] }

  // MARK: Network

  mutating func receive(_ message: Int, minted: String?, fits: Bool, _ names: HistoryNames) throws {
    let device = messages[message].device
    if let minted { devices[device]?.mint(minted) }
    guard fits, let answer = messages[message].answer else { return }
    switch answer {
    case .nothing: break
    case .reset(_, let spaces):
      devices[device]?.staged = 0
      let receipts = try self.device(device).ids.map { try names.space($0) }
      devices[device]?.open = receipts + spaces
    case .page(let closes, let items, let open):
      devices[device]?.staged += items.count { "+-=".utf8.contains($0.kind) }
      if closes, open.isEmpty { devices[device]?.staged = 0 }
      devices[device]?.open = open
    }
  }

  /// The spaces that are open behind a page, by those that were before it.
  static func open(behind items: [HistoryItem], _ before: [SpaceID]) -> [SpaceID] {
    var open = before
    for item in items where item.subject == .space {
      open.removeAll { $0 == item.space }
      if item.kind == UInt8(ascii: ">") { open.append(item.space) }
    }
    return open
  }

  // MARK: The server

  /// The effect of mutations that are confirmed for the first time.
  mutating func judge(_ user: String, _ mutations: [Int], _ verdicts: String) {
    for (mutation, verdict) in zip(mutations, verdicts.utf8) where "crxv".utf8.contains(verdict) {
      guard settled.insert(Settled(user: user, mutation: mutation)).inserted, verdict == UInt8(ascii: "c") else {
        continue
      }
      let written = operations[mutation] ?? []
      rows.fold(written, mutation)
      for operation in written {
        if let row = rows[operation.key] { versions[Version(key: operation.key, tag: row.version)] = row }
      }
    }
  }

  mutating func attack(_ user: String, _ mutation: Int, _ written: [HistoryOperation], _ verdicts: String) {
    operations[mutation] = written
    judge(user, [mutation], verdicts)
  }

  mutating func commit(_ commit: ForeignCommit) {
    let tag = HistoryTag.foreign(commit.transaction)
    for (key, action, values) in commit.writes {
      let life = action == .update ? rows[key]?.incarnation ?? tag : tag
      let isGone = action == .delete || action == .none
      put(key, isGone ? nil : HistoryRow(values: values, version: tag, incarnation: life))
    }
  }

  mutating func backUp() { backup = (rows, settled) }
  mutating func loseTail() { (rows, settled) = backup }
}
