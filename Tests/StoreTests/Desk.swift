// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting

/// A world with one device at hand, and short words for what tests do with it.
final class Desk {
  let world: World
  let device: WorldDevice
  var store: Store { device.store }

  /// - Parameter before: SQL that makes the server's file before Skerry comes.
  init(_ schema: Schema = .library, seed: UInt64 = 1, before: String? = nil) throws {
    world = try World(schema, seed: seed, before: before)
    device = try world.open("a", user: "ana")
  }

  static let dune = RowKey("book", .text("dune"))
  static let emma = RowKey("book", .text("emma"))

  /// A book with some values, in the outbox.
  @discardableResult
  func insert(_ id: String, _ values: [String: Value] = [:]) throws -> MutationID {
    try write { try $0.insert("book", values.merging(["id": .text(id), "owner": "ana"]) { given, _ in given }) }
  }

  @discardableResult
  func update(_ key: RowKey, _ values: [String: Value]) throws -> MutationID {
    try write { try $0.update(key, values) }
  }

  /// A write that must change something.
  @discardableResult
  func write(_ label: String? = nil, _ body: (inout WriteTransaction) throws -> Void) throws -> MutationID {
    guard let id = try store.write(label, body) else { throw WorldError("nothing was written") }
    return id
  }

  func sync() throws { try world.sync("a") }

  /// What the file holds, by SQL that is the test's own.
  func query(_ sql: String) throws -> [String] {
    try store.withConnection { connection in
      try connection.query(sql) { row in (0..<row.count).map { Desk.text(row.value($0)) }.joined(separator: " ") }
    }
  }

  static func text(_ value: SQLiteValue) -> String {
    switch value {
    case .null: "-"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)r"
    case .text(let text): text
    case .blob(let bytes): "x" + Hex.text(bytes)
    }
  }

  /// The operations of an entry, one a line.
  func operations(_ id: MutationID) throws -> [String] {
    try store.outbox().filter { $0.id == id }.flatMap(\.operations).map(Desk.text)
  }

  static func text(_ operation: SkerryModel.Operation) -> String {
    func list(_ fields: [Field]) -> String { fields.map { "\($0.column)=\(text($0.value))" }.joined(separator: " ") }
    return switch operation.action {
    case .insert(let fields): "insert \(operation.key) \(list(fields))"
    case .set(let fields, let base): "set \(operation.key) \(list(fields))" + (base == nil ? "" : " base")
    case .increment(let column, let amount): "add \(operation.key) \(column) \(amount)"
    case .delete: "delete \(operation.key)"
    }
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .null: "-"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)r"
    case .text(let text): text
    case .blob(let bytes): "x" + Hex.text(bytes)
    }
  }
}

/// A store without a server.
final class Pad {
  let folder: TemporaryFolder
  let store: Store

  init(_ schema: Schema = .library) throws {
    folder = try TemporaryFolder()
    let ambient = VirtualAmbient(seed: 3)
    store = try Store(path: folder.path("a.db"), account: "ana", catalog: try Catalog(schema), ambient: ambient)
  }

  /// All that the app and the outbox hold.
  private func content() throws -> [String] {
    let books = try store.withConnection { connection in
      try connection.query("SELECT * FROM book ORDER BY id") { row in
        (0..<row.count).map { Desk.text(row.value($0)) }.joined(separator: " ")
      }
    }
    return books + (try store.outbox().map { "\($0)" })
  }

  /// The error of a write that must be refused; nothing of it may be left.
  func refusal(_ body: (inout WriteTransaction) throws -> Void) throws -> StoreError {
    let before = try content()
    do {
      _ = try store.write(nil, body)
    } catch let error as StoreError {
      if try content() != before { throw WorldError("something of a refused write is left") }
      return error
    }
    throw WorldError("the write was taken")
  }
}
