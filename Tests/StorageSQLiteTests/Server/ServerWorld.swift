// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageContract
import SkerryStorageSQLite
import SkerryTesting
import SkerryWire

/// A step of a mutation as a test writes it; the incarnation is that of the row as it is on the server.
enum Step: Sendable {
  case insert(String, String, [String: Value])
  case set(String, String, [String: Value])
  case add(String, String, Int64)
  case delete(String, String)
}

/// A server over a SQLite file, called directly, and another program that works on the file.
final class ServerWorld {
  let sqlite: SQLiteWorld
  let server: SyncServer
  private var numbers: [ReplicaID: Int64] = [:]

  init(_ schema: Schema = .contract, seed: UInt64 = 1, before: String = "") throws {
    sqlite = try SQLiteWorld(schema, seed: seed, before: before)
    server = SyncServer(catalog: sqlite.catalog, storage: sqlite.storage, ambient: sqlite.ambient)
  }

  var storage: any Storage { sqlite.storage }
  var stamp: SchemaStamp { SchemaStamp(sqlite.catalog.schema) }

  func foreign(_ sql: String) throws { try sqlite.foreign.execute(sql) }

  func row(_ table: String, _ id: String) throws -> RowState? {
    try storage.read { try $0.row(RowKey(table, .text(id))) }
  }

  // MARK: Pushing

  /// Operations of these steps, in one mutation with this id.
  func operations(_ steps: [Step], of id: MutationID) throws -> [Operation] {
    var made: [RowKey: Incarnation] = [:]
    func incarnation(_ key: RowKey) throws -> Incarnation {
      if let known = made[key] { return known }
      let row = try storage.read { try $0.row(key) }
      return row?.incarnation ?? Incarnation(tag: VersionTag(raw: Bytes16(high: 0, low: 0)), index: 0)
    }
    func fields(_ values: [String: Value]) -> [Field] {
      values.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) }
    }
    return try steps.enumerated().map { index, step in
      switch step {
      case .insert(let table, let name, let values):
        let key = RowKey(table, .text(name))
        made[key] = Incarnation(tag: id.tag, index: UInt16(index))
        return Operation(key, nil, .insert(fields(values)))
      case .set(let table, let name, let values):
        let key = RowKey(table, .text(name))
        return Operation(key, try incarnation(key), .set(fields(values), base: try row(table, name)?.version))
      case .add(let table, let name, let amount):
        let key = RowKey(table, .text(name))
        return Operation(key, try incarnation(key), .increment("n", by: amount))
      case .delete(let table, let name):
        let key = RowKey(table, .text(name))
        return Operation(key, try incarnation(key), .delete)
      }
    }
  }

  /// A mutation of these steps with the replica's next number.
  func mutation(
    _ steps: [Step], replica: ReplicaID, id: MutationID? = nil, after: [MutationID] = [], isVoid: Bool = false
  ) throws -> Mutation {
    let id = id ?? sqlite.ambient.makeMutationID()
    let number = numbers[replica, default: 0] + 1
    numbers[replica] = number
    return Mutation(id: id, number: number, after: after, operations: try operations(steps, of: id), isVoid: isVoid)
  }

  func push(
    _ mutations: [Mutation], as user: AccountID, replica: ReplicaID, settled: Int64 = 0, cursor: Cursor? = nil
  ) throws -> [Verdict] {
    try server.push(
      PushRequest(schema: stamp, replica: replica, cursor: cursor, settled: settled, mutations: mutations), as: user
    ).verdicts
  }

  /// Pushes one mutation of these steps from the account's own replica, and gives the outcome with its code.
  func judge(_ steps: [Step], as user: AccountID) throws -> String {
    let replica = ReplicaID("phone of " + user.text)
    let mutation = try mutation(steps, replica: replica)
    guard case .settled(let id, let outcome)? = try push([mutation], as: user, replica: replica).first else {
      return "not settled"
    }
    let code = try receipt(id, of: user)?.receipt.code
    return outcome.rawValue + (code.map { " " + $0.text } ?? "")
  }

  func receipt(_ id: MutationID, of user: AccountID) throws -> StoredReceipt? {
    try storage.read { try $0.receipt(ReceiptKey(user: user, mutation: id)) }
  }

  // MARK: Pulling

  func pull(
    _ cursor: Cursor?, as user: AccountID, replicas: [ReplicaID]? = nil, settled: Int64 = 0, limit: Int = 1_000
  ) throws -> PullAnswer {
    let own = replicas ?? [ReplicaID("phone of " + user.text)]
    return try server.pull(
      PullRequest(schema: stamp, replicas: own, cursor: cursor, settled: settled, limit: limit), as: user)
  }

  /// Pulls until a page closes and nothing is open, and gives all items.
  func catchUp(
    _ cursor: inout Cursor?, as user: AccountID, replicas: [ReplicaID]? = nil, limit: Int = 1_000
  ) throws -> [PageItem] {
    var items: [PageItem] = []
    for _ in 0..<1_000 {
      switch try pull(cursor, as: user, replicas: replicas, limit: limit) {
      case .reset(let reset): cursor = reset.cursor
      case .page(let page):
        items += page.items
        cursor = page.cursor
        if page.closes, page.cursor.open.isEmpty { return items }
      }
    }
    throw WorldError("a catch-up does not end")
  }
}

extension PageItem {
  /// The item as a test writes it: what it is, the space and the row.
  var text: String {
    func row(_ kind: String, _ space: SpaceID, _ key: RowKey) -> String { "\(kind) \(key) in \(space)" }
    return switch self {
    case .gain(let space): "gain \(space)"
    case .lose(let space): "lose \(space)"
    case .filled(let space): "filled \(space)"
    case .put(let space, let image): row("put", space, image.key)
    case .left(let space, let key, let still):
      row("left", space, key) + (still.isEmpty ? "" : ", still " + still.map(\.text).joined(separator: " "))
    case .deleted(let space, let key): row("deleted", space, key)
    case .receipt(_, let receipt): "receipt \(receipt.outcome.rawValue)"
    }
  }
}
