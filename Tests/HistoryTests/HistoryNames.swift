// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// A version or an incarnation by the model's names.
enum HistoryTag: Hashable {
  /// The version that a mutation, named by its rank, gave a row.
  case mutation(Int)
  /// The life that an operation of a mutation began.
  case insert(Int, Int)
  /// The version, or the life, that a foreign transaction gave a row.
  case foreign(Int)
  /// Something else: no implementation has it.
  case other(String)
}

/// The model's names for things, and ours.
///
/// Mutation ids are the model's text in sixteen bytes, which keeps their order. Version tags of foreign writes and replica
/// ids are drawn by the implementation, so they are learned when they first appear, and must then be used alike for ever.
final class HistoryNames {
  /// A row's version, or life, that a foreign transaction made.
  struct Foreign: Hashable {
    let key: Int
    let transaction: Int
  }

  /// The rows of the history, by table and then by id.
  let keys: [RowKey]
  let ids: [String]
  /// The table of each row, by its place among `HistoryTable.all`.
  let tables: [Int]
  let mutations: [MutationID]
  let mutationNames: [String]
  let transactionNames: [String]
  let hexOfMutations: [String]
  private let first: [Int]
  private var versions: [Foreign: VersionTag] = [:]
  private(set) var versionNames: [VersionTag: Foreign] = [:]
  private var incarnations: [Foreign: Incarnation] = [:]
  private(set) var incarnationNames: [Incarnation: Foreign] = [:]
  private var replicas: [String: ReplicaID] = [:]
  private var spaces: [String: SpaceID] = [:]

  init(_ head: HistoryHead) {
    var (keys, ids, tables): ([RowKey], [String], [Int]) = ([], [], [])
    var first = Array(repeating: 0, count: 128)
    for (index, table) in HistoryTable.all.enumerated() {
      first[Int(table.letter)] = keys.count
      for id in head.names[table.letter] ?? [] {
        keys.append(RowKey(table.name, .text(id)))
        ids.append(id)
        tables.append(index)
      }
    }
    (self.keys, self.ids, self.tables, self.first) = (keys, ids, tables, first)
    mutationNames = head.names[UInt8(ascii: "m")] ?? []
    transactionNames = head.names[UInt8(ascii: "x")] ?? []
    mutations = mutationNames.map(HistoryNames.mutation)
    hexOfMutations = mutations.map { Hex.text($0.raw.bytes).uppercased() }
    for user in ["u0", "u1", "u2"] { replicas["e" + user.suffix(1)] = ReplicaID("evil-" + user) }
  }

  private static func mutation(_ name: String) -> MutationID {
    let bytes = Array(name.utf8.prefix(16)) + Array(repeating: 0, count: max(0, 16 - name.utf8.count))
    guard let id = MutationID(bytes: bytes) else { preconditionFailure("sixteen bytes are an id") }
    return id
  }

  /// The model's name of a mutation; its bytes if it has none.
  func name(_ id: MutationID) -> String { mutations.firstIndex(of: id).map { mutationNames[$0] } ?? "\(id)" }

  /// The place of the row with this letter and rank among `keys`.
  func key(_ letter: UInt8, _ rank: Int) throws -> Int {
    let key = first[Int(letter & 127)] + rank
    guard key < keys.count, HistoryTable.all[tables[key]].letter == letter else {
      throw Difference("no row \(UnicodeScalar(letter))\(rank)")
    }
    return key
  }

  // MARK: Replicas and spaces

  func learn(replica name: String, _ id: ReplicaID) { replicas[name] = id }

  func replica(_ name: String) throws -> ReplicaID {
    guard let known = replicas[name] else { throw Difference("replica \(name) is not known here") }
    return known
  }

  /// The space that a reference means: `u0`, `t3`, `r1~2`.
  func space(_ reference: String) throws -> SpaceID {
    if let known = spaces[reference] { return known }
    let space: SpaceID
    switch reference.utf8.first {
    case UInt8(ascii: "u"): space = SpaceID("user:" + reference)
    case UInt8(ascii: "t"):
      space = SpaceID("team:" + ids[try key(UInt8(ascii: "t"), Int(reference.dropFirst()) ?? .max / 2)])
    default: space = .replica(try replica(reference))
    }
    spaces[reference] = space
    return space
  }

  // MARK: Versions and incarnations

  func learn(_ transaction: Int, of key: Int, _ tag: VersionTag) throws {
    let name = Foreign(key: key, transaction: transaction)
    if let known = versions[name], known != tag { throw Difference("version \(text(name)) is two versions here") }
    if let known = versionNames[tag], known != name {
      throw Difference("versions \(text(known)) and \(text(name)) are one here")
    }
    versions[name] = tag
    versionNames[tag] = name
  }

  func learn(_ transaction: Int, of key: Int, _ incarnation: Incarnation) throws {
    let name = Foreign(key: key, transaction: transaction)
    if let known = incarnations[name], known != incarnation { throw Difference("life \(text(name)) is two here") }
    if let known = incarnationNames[incarnation], known != name {
      throw Difference("lives \(text(known)) and \(text(name)) are one here")
    }
    incarnations[name] = incarnation
    incarnationNames[incarnation] = name
  }

  private func text(_ name: Foreign) -> String { "\(transactionNames[name.transaction]) of \(keys[name.key])" }

  func version(_ tag: HistoryTag, of key: Int) throws -> VersionTag {
    switch tag {
    case .mutation(let rank): return mutations[rank].tag
    case .foreign(let transaction):
      if let known = versions[Foreign(key: key, transaction: transaction)] { return known }
    default: break
    }
    throw Difference("version \(tag) of \(keys[key]) is not known here")
  }

  func incarnation(_ tag: HistoryTag, of key: Int) throws -> Incarnation {
    switch tag {
    case .insert(let rank, let index): return Incarnation(tag: mutations[rank].tag, index: UInt16(index))
    case .foreign(let transaction):
      if let known = incarnations[Foreign(key: key, transaction: transaction)] { return known }
    default: break
    }
    throw Difference("life \(tag) of \(keys[key]) is not known here")
  }
}
