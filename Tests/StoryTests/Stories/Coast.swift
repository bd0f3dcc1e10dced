// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageSQLite
import SkerryStore
import SkerryTestSupport
import SkerryTesting

/// A server and devices whose files can be closed, copied, and put back: for backups, lost tails, clones and restored phones;
/// and a server of which several nodes share one file.
final class Coast {
  private let disk = MemoryDisk(seed: 21)
  let ambient = VirtualAmbient(seed: 21)
  let catalog: Catalog
  /// The nodes in use, in turn.
  private(set) var nodes: [SyncServer] = []
  private var turn = 0
  private var opened = 0
  private(set) var foreign: SQLiteConnection
  private(set) var devices: [String: Device] = [:]

  struct Device {
    let user: AccountID
    let file: String
    let store: Store
    let session: SyncSession
  }

  init(_ schema: Schema = .model, nodes count: Int = 1) throws {
    catalog = try Catalog(schema)
    foreign = try SQLiteConnection(path: ":memory:", mode: .writer)
    try openServer(nodes: count)
  }

  var server: SyncServer { nodes[0] }

  // MARK: Files

  /// How a new process names a file.
  private func path(_ file: String) -> String {
    opened += 1
    return MemoryDisk.path(process: "\(opened)", machine: "coast", file: file)
  }

  private func copyFile(_ from: String, to: String) { disk.copy(from: "coast", from, to: "coast", to) }

  private func openServer(nodes count: Int) throws {
    nodes = try (0..<count).map { _ in
      let storage = try SQLiteStorage(
        path: path("server.db"), catalog: catalog, ambient: ambient, busyTimeout: 0, readers: 1, vfs: disk.vfsName)
      return SyncServer(catalog: catalog, storage: storage, ambient: ambient)
    }
    foreign = try SQLiteConnection(path: path("server.db"), mode: .writer, busyTimeout: 0, vfs: disk.vfsName)
  }

  /// Closes the server's file for a while, for what is done to it.
  private func withServerClosed(_ body: () throws -> Void) throws {
    let count = nodes.count
    nodes = []
    foreign = try SQLiteConnection(path: ":memory:", mode: .writer)
    try body()
    try openServer(nodes: count)
  }

  /// Copies the server's file.
  ///
  /// - Returns: the position that the copy holds.
  @discardableResult
  func backUp() throws -> Int64 {
    try withServerClosed { copyFile("server.db", to: "backup.db") }
    let copy = try SQLiteConnection(path: path("backup.db"), mode: .reader, vfs: disk.vfsName)
    return try copy.first("SELECT head FROM skerry_history") { $0.integer(0) } ?? 0
  }

  /// Puts the backup in the server's place; an operator who knows of it says so, with a new epoch.
  func restore(announcedAs epoch: String?) throws {
    try withServerClosed { copyFile("backup.db", to: "server.db") }
    if let epoch { try server.beginEpoch(epoch) }
  }

  @discardableResult
  func open(_ name: String, user: AccountID = "ana", file: String? = nil) throws -> Store {
    devices[name] = nil
    let file = file ?? name + ".db"
    let store = try Store(path: path(file), account: user, catalog: catalog, ambient: ambient, vfs: disk.vfsName)
    let session = SyncSession(store, policy: TimingPolicy(batch: 3, page: 4))
    devices[name] = Device(user: user, file: file, store: store, session: session)
    return store
  }

  /// Copies a device's file while it is closed; the device goes on.
  func copy(_ name: String, to file: String) throws {
    try withClosed(name) { copyFile($0, to: file) }
  }

  /// Puts a copied file in the place of a device's own.
  func restore(_ name: String, from file: String) throws {
    try withClosed(name) { copyFile(file, to: $0) }
  }

  private func withClosed(_ name: String, _ body: (_ file: String) throws -> Void) throws {
    guard let (user, file) = devices[name].map({ ($0.user, $0.file) }) else { return }
    devices[name] = nil
    try body(file)
    try open(name, user: user, file: file)
  }

  func close(_ name: String) { devices[name] = nil }

  // MARK: Messages

  func store(_ name: String) throws -> Store {
    guard let store = devices[name]?.store else { throw WorldError("no device \(name)") }
    return store
  }

  @discardableResult
  func write(_ name: String, _ body: (inout WriteTransaction) throws -> Void) throws -> MutationID? {
    try store(name).write(nil, body)
  }

  /// Answers at the next node.
  func serve(_ request: TransportRequest, as user: AccountID) -> TransportResponse {
    turn += 1
    guard let path = Endpoint.Path(rawValue: request.path) else {
      return TransportResponse(status: 404, contentType: nil, body: [])
    }
    let answer = Endpoint(nodes[turn % nodes.count]).respond(to: path, body: request.body, as: user)
    return TransportResponse(
      status: answer.status, contentType: answer.contentType, retryAfter: answer.retryAfter.map { Int64($0) * 1_000 },
      body: answer.body)
  }

  func sync(_ name: String) throws {
    guard let device = devices[name] else { return }
    ambient.advance(by: 120_000)
    device.session.note(.syncWanted)
    for _ in 0..<500 {
      guard case .exchange(let exchange) = try device.session.next() else { return }
      try device.session.take(.success(serve(exchange.request, as: device.user)), for: exchange)
    }
    throw WorldError("a round of \(name) does not end")
  }

  func settle() throws {
    for _ in 0..<20 {
      for name in devices.keys.sorted() { try sync(name) }
      let head = try server.history().head
      if try devices.values.allSatisfy({ try $0.store.outboxCount() == 0 && $0.store.cursor?.position == head }) {
        return
      }
    }
    throw WorldError("the coast does not come to rest")
  }

  /// The text of a column of a device's rows, by the rows' keys.
  func rows(_ name: String, _ sql: String) throws -> [String] {
    try store(name).withConnection { connection in try Coast.text(connection, sql) }
  }

  static func text(_ connection: SQLiteConnection, _ sql: String) throws -> [String] {
    try connection.query(sql) { row in
      (0..<row.count).map { row.isNull($0) ? "-" : row.text($0) }.joined(separator: " ")
    }
  }
}
