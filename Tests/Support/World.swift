// SPDX-License-Identifier: Apache-2.0

package import SkerryMachine
package import SkerryModel
package import SkerrySQLiteKit
package import SkerryServerCore
package import SkerryStorageSQLite
package import SkerryStore

/// A server and devices in one process and one thread, in virtual time, on real SQLite files. Messages are bytes that a test
/// carries, loses, doubles and delays.
package final class World {
  package let folder: TemporaryFolder
  package let ambient: VirtualAmbient
  package let catalog: Catalog
  package private(set) var server: SyncServer
  package private(set) var storage: SQLiteStorage
  package private(set) var devices: [String: TestDevice] = [:]
  private var endpoint: Endpoint
  /// Another program with the server's file open.
  package let foreign: SQLiteConnection

  package init(_ schema: Schema, seed: UInt64 = 1) throws {
    folder = try TemporaryFolder()
    ambient = VirtualAmbient(seed: seed)
    catalog = try Catalog(schema)
    let path = folder.path("server.db")
    storage = try SQLiteStorage(path: path, catalog: catalog, ambient: ambient, busyTimeout: 0, readers: 1)
    server = SyncServer(catalog: catalog, storage: storage, ambient: ambient)
    endpoint = Endpoint(server)
    foreign = try SQLiteConnection(path: path, mode: .writer, busyTimeout: 0)
  }

  /// Makes a device, or opens its file again after its death.
  @discardableResult
  package func open(_ name: String, user: AccountID, policy: TimingPolicy = World.policy) throws -> TestDevice {
    devices[name] = nil
    let store = try Store(path: folder.path(name + ".db"), account: user, catalog: catalog, ambient: ambient)
    let device = TestDevice(name: name, user: user, store: store, policy: policy)
    devices[name] = device
    return device
  }

  /// The process of a device dies: what is only in memory is gone.
  @discardableResult
  package func kill(_ name: String) throws -> TestDevice? {
    guard let user = devices[name]?.user else { return nil }
    return try open(name, user: user)
  }

  /// The server's process dies and another opens the file.
  package func restartServer() throws {
    storage = try SQLiteStorage(
      path: folder.path("server.db"), catalog: catalog, ambient: ambient, busyTimeout: 0, readers: 1)
    server = SyncServer(catalog: catalog, storage: storage, ambient: ambient)
    endpoint = Endpoint(server)
  }

  /// Small pages and batches, so that a few rows take several messages.
  package static let policy = TimingPolicy(interval: 30_000, batch: 3, page: 4)

  /// The server's answer to a request.
  package func serve(_ request: TransportRequest, as user: AccountID) -> TransportResponse {
    guard let path = Endpoint.Path(rawValue: request.path) else {
      return TransportResponse(status: 404, contentType: nil, body: [])
    }
    let answer = endpoint.respond(to: path, body: request.body, as: user)
    return TransportResponse(
      status: answer.status, contentType: answer.contentType, retryAfter: answer.retryAfter.map { Int64($0) * 1_000 },
      body: answer.body)
  }

  /// One round of a device: until its session has nothing to do for now.
  ///
  /// - Parameter limit: a round that takes more messages than this is a fault of the engine.
  package func sync(_ name: String, limit: Int = 2_000) throws {
    guard let device = devices[name] else { return }
    device.session.note(.syncWanted)
    for _ in 0..<limit {
      guard case .exchange(let exchange) = try device.session.next() else { return }
      try device.session.take(.success(serve(exchange.request, as: device.user)), for: exchange)
    }
    throw WorldError("a round of \(name) does not end")
  }

  /// Rounds of all devices until nothing changes any more; bounded, since faults have stopped and nobody writes.
  package func settle(rounds: Int = 20) throws {
    for _ in 0..<rounds {
      for name in devices.keys.sorted() { try sync(name) }
      ambient.advance(by: 600_000)
      let waiting = try devices.values.reduce(0) { try $0 + $1.store.outboxCount() }
      let head = try server.history().head
      if waiting == 0, devices.values.allSatisfy({ $0.store.cursor?.position == head }) { return }
    }
    throw WorldError("the world does not come to rest:\n\(try describe())")
  }

  /// All rows of the server and of each device as text: what a failing story shows.
  package func describe() throws -> String {
    var out = "server\n"
    for table in catalog.tables { out += try World.describe(table, foreign) }
    for (name, device) in devices.sorted(by: { $0.key < $1.key }) {
      out += "\(name) (\(device.user)), outbox \(try device.store.outboxCount())\n"
      out += try device.screen()
      for refusal in try device.store.rejections() { out += "  refused: \(refusal.code?.text ?? "-")\n" }
    }
    return out
  }

  static func describe(_ table: TableInfo, _ connection: SQLiteConnection) throws -> String {
    let columns = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let keys = table.definition.key.map { "\"\($0)\"" }.joined(separator: ", ")
    let rows = try connection.query("SELECT \(columns) FROM \"\(table.name)\" ORDER BY \(keys)") { row in
      "  \(table.name) " + table.columns.indices.map { text(row.value($0)) }.joined(separator: " | ") + "\n"
    }
    return rows.joined()
  }

  private static func text(_ value: SQLiteValue) -> String {
    switch value {
    case .null: "-"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    case .blob(let bytes): Hex.text(bytes)
    }
  }
}

/// Why a world is not as it must be.
package struct WorldError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// A store with its session.
package final class TestDevice {
  package let name: String
  package let user: AccountID
  package let store: Store
  package let session: SyncSession

  init(name: String, user: AccountID, store: Store, policy: TimingPolicy) {
    self.name = name
    self.user = user
    self.store = store
    session = SyncSession(store, policy: policy)
  }

  /// The visible rows as text.
  package func screen() throws -> String {
    try store.withConnection { connection in
      try store.catalog.tables.map { try World.describe($0, connection) }.joined()
    }
  }
}
