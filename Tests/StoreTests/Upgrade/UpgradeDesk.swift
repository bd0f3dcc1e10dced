// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageSQLite
import SkerryStore
import SkerryTestSupport
import SkerryTesting

/// A server and devices whose files outlive the versions of their schema.
final class UpgradeDesk {
  private let folder: TemporaryFolder
  private let ambient: VirtualAmbient
  private(set) var storage: SQLiteStorage
  private(set) var server: SyncServer
  private var endpoint: Endpoint
  private(set) var stores: [String: Store] = [:]
  private var sessions: [String: SyncSession] = [:]

  init(_ schema: Schema, seed: UInt64 = 1) throws {
    folder = try TemporaryFolder()
    ambient = VirtualAmbient(seed: seed)
    (storage, server, endpoint) = try Self.open(schema, folder, ambient)
  }

  private static func open(
    _ schema: Schema, earlier: [Schema] = [], _ folder: TemporaryFolder, _ ambient: VirtualAmbient
  ) throws -> (SQLiteStorage, SyncServer, Endpoint) {
    let catalog = try Catalog(schema)
    let storage = try SQLiteStorage(
      path: folder.path("server.db"), catalog: catalog, earlier: earlier, ambient: ambient)
    let server = SyncServer(catalog: catalog, storage: storage, ambient: ambient)
    return (storage, server, Endpoint(server) { _ in })
  }

  /// The server is started anew, with a schema.
  func startServer(_ schema: Schema, earlier: [Schema] = []) throws {
    (storage, server, endpoint) = try Self.open(schema, earlier: earlier, folder, ambient)
  }

  /// A device's app is started, for the first time or anew, with a schema.
  @discardableResult
  func start(_ name: String, _ schema: Schema) throws -> Store {
    (stores[name], sessions[name]) = (nil, nil)
    let store = try Store(
      path: folder.path(name + ".db"), account: "ana", catalog: try Catalog(schema), ambient: ambient)
    stores[name] = store
    sessions[name] = SyncSession(store, policy: TimingPolicy(batch: 3, page: 4))
    return store
  }

  /// One round; what the server says to it is in the session's condition.
  @discardableResult
  func sync(_ name: String, exchanges: Int = 500) throws -> SyncMachine.Condition {
    guard let session = sessions[name] else { throw WorldError("\(name) is not started") }
    ambient.advance(by: 600_000)
    session.note(.syncRequested)
    for _ in 0..<exchanges {
      guard case .exchange(let exchange) = try session.next() else { return session.condition }
      try session.take(.success(answer(exchange.request)), for: exchange)
    }
    if exchanges < 500 { return session.condition }
    throw WorldError("a round of \(name) does not end")
  }

  /// What the server last said in words of its own, for people.
  private(set) var problem = ""
  /// How many resets were sent.
  private(set) var resets = 0
  /// How many puts were sent.
  private(set) var puts = 0

  private func answer(_ request: TransportRequest) throws -> TransportResponse {
    guard let path = Endpoint.Path(rawValue: request.path) else { throw WorldError("no path \(request.path)") }
    let answer = endpoint.respond(to: path, body: request.body, as: "ana")
    let text = String(decoding: answer.body, as: UTF8.self)
    if answer.status != 200 { problem = text }
    if text.contains("\"kind\":\"reset\"") { resets += 1 }
    puts += text.components(separatedBy: "\"kind\":\"put\"").count - 1
    return TransportResponse(
      status: answer.status, contentType: answer.contentType, retryAfter: answer.retryAfter.map { Int64($0) * 1_000 },
      body: answer.body)
  }

  /// Rows of a table as a device shows them, or the server if no device is named.
  func rows(_ sql: String, of name: String? = nil) throws -> [String] {
    func read(_ connection: SQLiteConnection) throws -> [String] {
      try connection.query(sql) { row in (0..<row.count).map { Desk.text(row.value($0)) }.joined(separator: " ") }
    }
    if let name { return try stores[name]?.withConnection(read) ?? [] }
    return try storage.withWriter(read)
  }

  func execute(_ sql: String) throws { try storage.withWriter { try $0.execute(sql) } }

  /// What every digest and every row must say at rest.
  func mismatches() -> Int64 { stores.values.reduce(0) { $0 + $1.digestMismatches } }
}
