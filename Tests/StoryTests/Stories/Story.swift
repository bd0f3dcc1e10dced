// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// A world of the model's schema with short words for what stories tell.
final class Story {
  let world: World
  let post: Post

  /// Devices by name and account; Ana and Ben are both in team `t`, Ben also in team `u`.
  init(_ devices: KeyValuePairs<String, AccountID> = ["a": "ana", "b": "ana"]) throws {
    world = try World(.model)
    post = Post(world)
    try foreign(
      "INSERT INTO team(id) VALUES ('t'), ('u')",
      "INSERT INTO member(id, team, user) VALUES ('at', 't', 'ana'), ('bt', 't', 'ben'), ('bu', 'u', 'ben')")
    for (name, user) in devices { try world.open(name, user: user) }
    for (name, _) in devices { try world.sync(name) }
  }

  static func item(_ id: String) -> RowKey { RowKey("item", .text(id)) }
  static func note(_ id: String) -> RowKey { RowKey("note", .text(id)) }

  // MARK: People and other programs

  func store(_ name: String) throws -> Store { try device(name).store }

  func device(_ name: String) throws -> WorldDevice {
    guard let device = world.devices[name] else { throw WorldError("no device \(name)") }
    return device
  }

  @discardableResult
  func write(_ name: String, _ body: (inout WriteTransaction) throws -> Void) throws -> MutationID {
    guard let id = try store(name).write(nil, body) else { throw WorldError("nothing was written") }
    return id
  }

  /// A new item in a space, by default in Ana's own.
  @discardableResult
  func insert(
    _ name: String, _ id: String, _ values: [String: Value] = [:], home: String = "user:ana"
  ) throws -> MutationID {
    try write(name) { write in
      try write.insert("item", values.merging(["id": .text(id), "home": .text(home)]) { given, _ in given })
    }
  }

  @discardableResult
  func set(_ name: String, _ id: String, _ values: [String: Value]) throws -> MutationID {
    try write(name) { try $0.update(Story.item(id), values) }
  }

  @discardableResult
  func add(_ name: String, _ id: String, _ amount: Int64) throws -> MutationID {
    try write(name) { try $0.increment(Story.item(id), "n", by: amount) }
  }

  @discardableResult
  func delete(_ name: String, _ id: String) throws -> MutationID { try write(name) { try $0.delete(Story.item(id)) } }

  /// One transaction of another program.
  func foreign(_ statements: String...) throws {
    try world.foreign.transaction(.immediate) { for sql in statements { try world.foreign.execute(sql) } }
  }

  // MARK: Messages, one by one

  /// The next request of a device, after the waits of earlier failures; nil when it rests.
  func ask(_ name: String) throws -> SyncSession.Exchange? {
    world.ambient.advance(by: 120_000)
    let session = try device(name).session
    session.note(.syncWanted)
    guard case .exchange(let exchange) = try session.next() else { return nil }
    return exchange
  }

  func serve(_ exchange: SyncSession.Exchange, _ name: String) throws -> TransportResponse {
    world.serve(exchange.request, as: try device(name).user)
  }

  @discardableResult
  func hear(_ name: String, _ response: TransportResponse, _ exchange: SyncSession.Exchange) throws -> PageEffect {
    try device(name).session.take(.success(response), for: exchange)
  }

  func fail(_ name: String, _ exchange: SyncSession.Exchange, _ error: TransportError = .timedOut("a test")) throws {
    try device(name).session.take(.failure(error), for: exchange)
  }

  /// A round, after the waits of earlier failures.
  func sync(_ names: String...) throws {
    for name in names {
      world.ambient.advance(by: 120_000)
      try world.sync(name)
    }
  }

  /// A round in which something else answers in the server's place: as many requests as there are.
  func round(_ name: String, limit: Int = 50, answered: (SyncSession.Exchange) throws -> TransportResponse) throws {
    world.ambient.advance(by: 120_000)
    let device = try device(name)
    device.session.note(.syncWanted)
    for _ in 0..<limit {
      guard case .exchange(let exchange) = try device.session.next() else { return }
      try device.session.take(.success(try answered(exchange)), for: exchange)
    }
  }

  // MARK: Looking

  /// Rows of a device's screen as text.
  func screen(_ name: String, _ sql: String = "SELECT id, a, n FROM item ORDER BY id") throws -> [String] {
    try store(name).withConnection { try Coast.text($0, sql) }
  }

  /// Rows of the server as text.
  func server(_ sql: String = "SELECT id, a, n FROM item ORDER BY id") throws -> [String] {
    try Coast.text(world.foreign, sql)
  }

  /// How often the device's file was changed.
  func changes(_ name: String) throws -> [String] { try screen(name, "SELECT total_changes()") }

  func condition(_ name: String) throws -> SyncMachine.Condition { try device(name).session.condition }

  /// The codes of the refusals on a device.
  func refusals(_ name: String) throws -> [String] { try store(name).rejections().map { $0.code?.text ?? "-" } }

  /// The end: everybody comes to the same rows and digests, says so, and has nothing left to do.
  func end(at location: SourceLocation = #_sourceLocation) {
    expectAgreement(world, at: location)
    do {
      // The server hears once more how far the devices are.
      for name in world.devices.keys.sorted() { try world.sync(name) }
      let before = try writes()
      for name in world.devices.keys.sorted() {
        try world.sync(name)
        #expect(try condition(name) == .idle, "\(name)", sourceLocation: location)
      }
      #expect(try writes() == before, "a further round writes", sourceLocation: location)
    } catch { Issue.record("\(error)", sourceLocation: location) }
  }

  /// Numbers that change when the server's file or a device's is written.
  private func writes() throws -> [Int64] {
    let devices = try world.devices.sorted { $0.key < $1.key }.map { _, device in
      try device.store.withConnection { try $0.first("SELECT total_changes()") { $0.integer(0) } ?? 0 }
    }
    return try [world.foreign.dataVersion()] + devices
  }
}
