// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting

/// Ana with a phone and a tablet, Ben with a laptop, two teams, another program that writes after each push, and the post
/// between them. One world serves many histories, one after the other: each begins with the same rows.
final class Village {
  let world: World
  let post: Post
  let checker: Checker
  private let reader: LineReader
  /// The step that the history is at, and how many pushes the server has had in it.
  private var step = 0
  private var pushes = 0

  init(longCatchUp: Int64? = nil) throws {
    world = try World(.small)
    reader = LineReader(world.catalog)
    for (name, user) in [("laptop", "ben"), ("phone", "ana"), ("tablet", "ana")] {
      let policy = TimingPolicy(batch: 3, page: 10)
      let device = try world.open(name, user: AccountID(user), policy: policy)
      if let longCatchUp { device.store.longCatchUp = longCatchUp }
    }
    post = Post(world)
    checker = Checker(world)
    post.onDevice = { [checker] name, effect in try checker.look(name, effect) }
    post.onServed = { [unowned self] _, isPush in
      if isPush { try writeForeign() }
      try checker.served()
    }
  }

  /// The same rows each time; what earlier histories left behind is cut off.
  func begin() throws {
    try foreign(
      "DELETE FROM note", "DELETE FROM item", "DELETE FROM member", "DELETE FROM team",
      "INSERT INTO team(id) VALUES ('t1'), ('t2')",
      "INSERT INTO member(id, team, user) VALUES ('m1', 't1', 'ana'), ('m2', 't1', 'ben'), ('m3', 't2', 'ben')",
      "INSERT INTO item(id, home) VALUES ('shared', 'team:t1'), ('own', 'user:ana'), ('far', 'team:t2')",
      "INSERT INTO note(id, parent) VALUES ('hint', 'shared'), ('far hint', 'far')")
    try world.settle()
    try world.server.markSafe(upTo: world.server.history().head)
    try world.server.expire(upTo: world.server.history().head)
    for device in world.devices.values {
      for refusal in try device.store.rejections() { try device.store.acknowledge(refusal.id) }
    }
    post.clearJournal()
    try checker.reset()
  }

  /// Carries out one step of a history. A device that was failing before tries again after it, as its engine would; without
  /// faults none is.
  ///
  /// - Returns: how many messages left in it.
  func carryOut(_ step: Histories.Step, number: Int, faults: [Int: Fault]) throws -> Int {
    (self.step, pushes) = (number, 0)
    post.count(faults)
    post.say("step \(number + 1)" + (faults.isEmpty ? "" : ", faults \(faults)"))
    let failing = world.devices.keys.sorted().filter { world.devices[$0]?.session.condition != .idle }
    try step(self)
    if pushes == 0 { try writeForeign() }
    for name in failing { try sync(name) }
    try foreign("UPDATE item SET a = 'f\(number)' WHERE id IN ('shared', 'new')")
    return post.number
  }

  /// All faults are over, and nobody writes: everybody comes to the same rows.
  func end() throws {
    post.count([:])
    try post.flush()
    try settle()
    try Agreement(world).check()
    try checker.checkEnd()
  }

  private func settle() throws {
    for _ in 0..<20 {
      try sync("laptop", "phone", "tablet")
      let head = try world.server.history().head
      let devices = world.devices.values
      if try devices.allSatisfy({ try $0.store.outboxCount() == 0 && $0.store.cursor?.position == head }) { return }
    }
    throw WorldError("the world does not come to rest")
  }

  /// What the server holds and what is on its way, without the names that each history gives anew. How up to date each
  /// device is does not count.
  func fingerprint() throws -> [String] {
    var out = post.isIdle ? [] : ["something is on its way"]
    for (name, row) in try reader.server(world.foreign) { out.append("\(name) \(row.line.content)") }
    for (name, device) in world.devices {
      if device.session.condition != .idle { out.append("\(name) \(device.session.condition)") }
      for id in checker.ledger.pending(on: name) {
        out.append("\(name) waits for \(checker.ledger.records[id]?.deeds.map(\.name) ?? [])")
      }
    }
    return out.sorted()
  }

  // MARK: What happens in a history

  /// Another program writes, as one transaction.
  func foreign(_ statements: String...) throws {
    try world.foreign.transaction(.immediate) { for sql in statements { try world.foreign.execute(sql) } }
    post.say("another program: \(statements.joined(separator: "; "))")
  }

  /// After each push another program changes what the push may have changed, and counts once in each step.
  private func writeForeign() throws {
    pushes += 1
    let amount = pushes == 1 ? Digits.amount(11 + step) : 0
    let sql = "UPDATE item SET a = 'f\(step).\(pushes)', n = n + \(amount) WHERE id IN ('shared', 'new')"
    try world.foreign.execute(sql)
    post.say("another program: \(sql)")
  }

  /// A person does what can be done: steps on rows that are not there, or are there already, are left out.
  func write(_ name: String, _ steps: Step...) throws {
    guard let device = world.devices[name] else { return }
    let id = try device.store.write { write in for step in steps { try step.carryOut(&write) } }
    guard let id else { return post.say("\(name) has nothing to write") }
    post.say("\(name) writes \(steps.map(\.description).joined(separator: ", "))")
    try checker.wrote(id, on: name)
  }

  /// A person takes back the newest entry, if there is one.
  func withdraw(_ name: String) throws {
    guard let store = world.devices[name]?.store, let entry = try store.outbox().last else { return }
    try store.discard(entry.id)
    post.say("\(name) withdraws \(entry.id)")
    try checker.withdrew(entry.id, on: name)
  }

  /// Rounds of some devices; between two of them the waits of failing requests pass.
  func sync(_ names: String...) throws {
    for name in names {
      world.ambient.advance(by: 120_000)
      try post.round(name)
    }
  }
}

/// One step of a person's write.
enum Step: CustomStringConvertible {
  case insert(String, String, [String: Value])
  case set(String, String, [String: Value])
  /// A number that no other step of the history adds.
  case add(String, String, digit: Int)
  case delete(String, String)

  var description: String {
    switch self {
    case .insert(let table, let id, _): "insert \(table)/\(id)"
    case .set(let table, let id, let values): "set \(table)/\(id) \(values.keys.sorted().joined(separator: " "))"
    case .add(let table, let id, let digit): "add \(digit) to \(table)/\(id)"
    case .delete(let table, let id): "delete \(table)/\(id)"
    }
  }

  fileprivate func carryOut(_ write: inout WriteTransaction) throws {
    switch self {
    case .insert(let table, let id, let values):
      if try write.row(RowKey(table, .text(id))) != nil { return }
      try write.insert(table, values.merging(["id": .text(id)]) { given, _ in given })
    case .set(let table, let id, let values):
      let key = RowKey(table, .text(id))
      if try write.row(key) != nil { try write.update(key, values) }
    case .add(let table, let id, let digit):
      let key = RowKey(table, .text(id))
      if try write.row(key) != nil { try write.increment(key, "n", by: Digits.amount(digit)) }
    case .delete(let table, let id):
      let key = RowKey(table, .text(id))
      if try write.row(key) != nil { try write.delete(key) }
    }
  }
}
