// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import SkerryWire

/// What the devices and the server say to each other, and what users and other programs do.
extension MortalWorld {
  // MARK: By the engine's own session

  /// The server's answer; none if it died over the request.
  private func serve(_ request: TransportRequest, as user: String) throws -> Result<TransportResponse, TransportError> {
    guard let path = Endpoint.Path(rawValue: request.path) else { throw WorldError("no path \(request.path)") }
    let answer = try opened().endpoint.respond(to: path, body: request.body, as: AccountID(user))
    if disk.isDead(label(Victim.server.program)) { return .failure(.broken("the server died")) }
    return .success(
      TransportResponse(
        status: answer.status, contentType: answer.contentType, retryAfter: answer.retryAfter.map { Int64($0) * 1_000 },
        body: answer.body))
  }

  /// One round of a device: until its session has nothing to do for now.
  func round(_ name: String) throws {
    let session = try device(name).session
    session.note(.syncWanted)
    for _ in 0..<500 {
      guard case .exchange(let exchange) = try session.next() else { return }
      try session.take(serve(exchange.request, as: name), for: exchange)
    }
    throw WorldError("a round of \(name) does not end")
  }

  /// Rounds of all devices until nothing changes any more; bounded, since faults have stopped and nobody writes.
  func settle() throws {
    for _ in 0..<20 {
      for name in names { try round(name) }
      ambient.advance(by: 600_000)
      let head = try server.history().head
      let isQuiet = try names.allSatisfy { name in
        let store = try store(name)
        return try store.outboxCount() == 0 && store.cursor?.position == head && store.cursor?.open.isEmpty == true
      }
      if isQuiet { return }
    }
    throw WorldError("the world does not come to rest")
  }

  // MARK: Message by message

  /// Offers entries to the server, all if none are named; the answer is not yet taken in.
  func push(_ name: String, _ ids: [MutationID]? = nil) throws -> [Verdict] {
    let store = try store(name)
    let request = PushRequest(
      schema: SchemaStamp(catalog.schema), replica: store.replicaID, cursor: store.cursor,
      settled: try store.settledMark(), mutations: try store.offer(ids ?? store.outbox().map(\.id)))
    return try server.push(request, as: AccountID(name)).verdicts
  }

  /// An answer that is not yet taken in, and what it is to be held against.
  struct Pulled {
    let answer: PullAnswer
    let asked: Cursor?
    let when: Int
  }

  func ask(_ name: String, limit: Int = 100) throws -> Pulled {
    let store = try store(name)
    let request = PullRequest(
      schema: SchemaStamp(catalog.schema), replicas: store.replicaIDs, cursor: store.cursor,
      settled: try store.settledMark(), limit: limit)
    return Pulled(answer: try server.pull(request, as: AccountID(name)), asked: store.cursor, when: store.clock)
  }

  @discardableResult
  func take(_ pulled: Pulled, _ name: String) throws -> PageEffect {
    switch pulled.answer {
    case .page(let page): try store(name).apply(page, asked: pulled.asked, when: pulled.when)
    case .reset(let reset): try store(name).apply(reset, asked: pulled.asked)
    }
  }

  /// Asks for pages and takes them in, until the store is at a consistent point.
  func catchUp(_ name: String, limit: Int) throws {
    for _ in 0..<100 where try take(ask(name, limit: limit), name).isConsistent { return }
    throw WorldError("a catch-up of \(name) does not end")
  }

  // MARK: Users and other programs

  static let tally = RowKey("item", .text("tally"))

  /// A write with its bit in the counter and its own row, and whatever else it does; accounted for once it has returned.
  @discardableResult
  func write(
    _ name: String, _ bit: Int, isMarked: Bool = true, _ body: (inout WriteTransaction) throws -> Void = { _ in }
  ) throws -> MutationID {
    ledger.begun.insert(bit)
    if !isMarked { ledger.unmarked.insert(bit) }
    let id = try store(name).write("bit \(bit)") { write in
      try write.increment(MortalWorld.tally, "n", by: 1 << Int64(bit))
      if isMarked { try write.insert("item", ["id": .text("mark-\(bit)"), "home": "team:t1"]) }
      try body(&write)
    }
    guard let id else { throw WorldError("a write that changes something made no mutation") }
    ledger.acknowledged[id] = bit
    return id
  }

  /// What another program does, as one transaction.
  func commitForeign(_ statements: String...) throws {
    let connection = try foreign()
    try connection.transaction(.immediate) { for statement in statements { try connection.execute(statement) } }
  }
}

extension RowKey {
  static func item(_ id: String) -> RowKey { RowKey("item", .text(id)) }
  static func doc(_ id: String) -> RowKey { RowKey("doc", .text(id)) }
  static func note(_ id: String) -> RowKey { RowKey("note", .text(id)) }
}
