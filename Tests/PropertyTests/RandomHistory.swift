// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import SkerryWire

/// A random history of two to four devices of up to three users, on a network that loses, doubles and delays, with processes
/// that die. Everything is drawn from one seed.
final class RandomHistory {
  let world: World
  private(set) var reference = Reference()
  /// How often each kind of fault happened.
  private(set) var faults: [String: Int] = [:]
  private var random: SeededGenerator
  private var operations: [MutationID: [Operation]] = [:]
  private var onTheWay: [String: SyncSession.Exchange] = [:]
  private var late: [(device: String, exchange: SyncSession.Exchange, response: TransportResponse)] = []
  private let codec: JSONCodec
  private let names: [String]

  init(seed: UInt64) throws {
    world = try World(.model, seed: seed)
    codec = JSONCodec(catalog: world.catalog)
    random = SeededGenerator(seed: seed)
    let users = ["u0", "u1", "u2"]
    let count = Int(random.next() % 3) + 2
    names = (0..<count).map { "d\($0)" }
    for (index, name) in names.enumerated() { try world.open(name, user: AccountID(users[index % users.count])) }
    try seedTeams()
  }

  /// Two teams; u0 is in the first, u1 in both, u2 in the second.
  private func seedTeams() throws {
    for team in ["t0", "t1"] {
      try world.foreign.run("INSERT INTO team(id) VALUES (?)", .text(team))
      reference.seed("team", team, [:])
    }
    for (index, (team, user)) in [("t0", "u0"), ("t0", "u1"), ("t1", "u1"), ("t1", "u2")].enumerated() {
      try world.foreign.run(
        "INSERT INTO member(id, team, user) VALUES (?, ?, ?)", .text("m\(index)"), .text(team), .text(user))
      reference.seed("member", "m\(index)", ["team": .text(team), "user": .text(user)])
    }
  }

  func run(steps: Int) throws {
    for _ in 0..<steps {
      let name = names[Int(random.next() % UInt64(names.count))]
      switch random.next() % 20 {
      case 0..<8: try write(name)
      case 8..<14: try send(name)
      case 14..<17: try answer(name)
      case 17: try deliverLate()
      case 18: world.ambient.advance(by: Int64(random.next() % 40_000))
      default: try die(name)
      }
    }
  }

  /// Faults stop, and nobody writes any more.
  func heal() throws {
    for name in names where onTheWay[name] != nil { try answer(name) }
    while !late.isEmpty { try deliverLate() }
    for _ in 0..<12 {
      for name in names {
        world.devices[name]?.session.note(.syncRequested)
        for _ in 0..<400 {
          guard let device = world.devices[name], case .exchange(let exchange) = try device.session.next() else {
            break
          }
          try device.session.take(.success(serve(exchange, device)), for: exchange)
        }
        world.ambient.advance(by: 3_700_000)
      }
    }
  }

  // MARK: Network and processes

  private func send(_ name: String) throws {
    guard onTheWay[name] == nil, let device = world.devices[name] else { return }
    if case .exchange(let exchange) = try device.session.next() { onTheWay[name] = exchange }
  }

  private func answer(_ name: String) throws {
    guard let exchange = onTheWay.removeValue(forKey: name), let device = world.devices[name] else { return }
    switch random.next() % 8 {
    case 0:
      count("request lost")
      try device.session.take(.failure(.timedOut("total")), for: exchange)
    case 1:
      count("answer lost")
      _ = serve(exchange, device)
      try device.session.take(.failure(.broken("reset")), for: exchange)
    case 2:
      count("answer late")
      late.append((name, exchange, serve(exchange, device)))
      try device.session.take(.failure(.timedOut("total")), for: exchange)
    case 3:
      count("doubled")
      _ = serve(exchange, device)
      let response = serve(exchange, device)
      for _ in 0..<2 { try device.session.take(.success(response), for: exchange) }
    default: try device.session.take(.success(serve(exchange, device)), for: exchange)
    }
  }

  /// An answer that nobody waits for any more, unless the process has died meanwhile.
  private func deliverLate() throws {
    guard !late.isEmpty else { return }
    let message = late.remove(at: Int(random.next() % UInt64(late.count)))
    try world.devices[message.device]?.session.take(.success(message.response), for: message.exchange)
  }

  private func die(_ name: String) throws {
    if random.chance(0.3) {
      count("server died")
      try world.restartServer()
    } else {
      count("device died")
      onTheWay[name] = nil
      late.removeAll { $0.device == name }
      try world.kill(name)
    }
  }

  private func serve(_ exchange: SyncSession.Exchange, _ device: WorldDevice) -> TransportResponse {
    let response = world.serve(exchange.request, as: device.user)
    guard exchange.isPush, let answer = try? codec.decodePushAnswer(response.body) else { return response }
    for case .settled(let id, let outcome) in answer.verdicts {
      reference.judge(id, isConfirmed: outcome == .confirmed, operations[id] ?? [])
    }
    return response
  }

  private func count(_ fault: String) { faults[fault, default: 0] += 1 }

  // MARK: Users

  private func write(_ name: String) throws {
    guard let device = world.devices[name] else { return }
    let found = try device.store.withConnection { connection in
      try ["item", "note", "part", "member"].flatMap { table in
        try connection.query("SELECT id FROM \"\(table)\" ORDER BY id") { RowKey(table, .text($0.text(0))) }
      }
    }
    var generator = random
    defer { random = generator }
    let id = try device.store.write { tx in
      for _ in 0..<(1 + generator.next() % 2) {
        do { try RandomHistory.act(&tx, found, device.user, &generator) } catch let error as StoreError {
          // What cannot be, such as an edit of a row that this very write has deleted, leaves no trace.
          guard error.code == .notFound || error.code == .exists else { throw error }
        }
      }
    }
    guard let id else { return }
    operations[id] = try device.store.outbox().first { $0.id == id }?.operations
  }

  private static func act(
    _ tx: inout WriteTransaction, _ found: [RowKey], _ user: AccountID, _ generator: inout SeededGenerator
  ) throws {
    let spaces = ["user:" + user.text, "team:t0", "team:t1"]
    let key = generator.pick(found)
    let id = "x\(generator.next() % 40)"
    switch generator.next() % 9 {
    case 0, 1: try tx.insert("item", ["id": .text(id), "a": "new", "home": .text(generator.pick(spaces) ?? "")])
    case 2:
      guard let parent = generator.pick(found.filter { $0.table == "item" }) else { return }
      try tx.insert("note", ["id": .text(id), "parent": parent.values[0]])
    case 3:
      guard let parent = generator.pick(found.filter { $0.table == "note" }) else { return }
      try tx.insert("part", ["id": .text(id), "parent": parent.values[0]])
    case 4:
      guard let key else { return }
      try tx.update(key, [generator.chance(0.5) ? "a" : "b": .text("\(generator.next() % 1_000)")])
    case 5:
      guard let key else { return }
      try tx.increment(key, "n", by: Int64(generator.next() % 9) + 1)
    case 6:
      guard let item = generator.pick(found.filter { $0.table == "item" }) else { return }
      try tx.update(
        item, ["home": .text(generator.pick(spaces) ?? ""), "also": generator.chance(0.3) ? .text(spaces[0]) : .null])
    case 7:
      guard let key, generator.chance(0.5) else { return }
      try tx.delete(key)
    default:
      guard generator.chance(0.4) else { return }
      let other = "u\(generator.next() % 3)"
      try tx.insert("member", ["id": .text(id), "team": .text("t\(generator.next() % 2)"), "user": .text(other)])
    }
  }
}
