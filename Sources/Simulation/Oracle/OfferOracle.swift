// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryWire

/// Holds what a device offers against what its people did and what its file says, before the network does anything to it.
struct OfferOracle {
  let device: DeviceNode
  let reading: DeviceReading
  let rules: Rules
  let now: Int64

  init?(_ device: DeviceNode, _ rules: Rules, at now: Int64) {
    guard let reading = device.oracle.last else { return nil }
    (self.device, self.reading, self.rules, self.now) = (device, reading, rules, now)
  }

  func check(_ request: PushRequest) throws {
    let entries = Dictionary(reading.outbox.map { ($0.id, $0) }) { first, _ in first }
    for mutation in request.mutations {
      guard let entry = entries[mutation.id] else {
        throw Broken("I-2 offers what is not in its outbox", "\(device.name) \(mutation.id)")
      }
      try check(mutation, entry)
      device.waits[mutation.id] = mutation.after
    }
    let lowest = reading.outbox.map(\.number).min() ?? .max
    try need(
      request.settled < lowest, "I-10 says that a number is settled which waits",
      "\(device.name) \(request.settled), \(lowest)")
    try checkOrder(request)
  }

  private func check(_ mutation: Mutation, _ entry: DeviceReading.Entry) throws {
    let text = "\(device.name) \(mutation.id)"
    try need(entry.isSent, "I-2 offered before it was frozen in the file", text)
    try need(!entry.isFailed, "I-13 offers what was set aside", text)
    try need(entry.number == mutation.number, "I-4 offered under another number", "\(text) \(mutation.number)")
    // Withdrawn while the request was being made: the first to arrive decides.
    if device.withdrawals[mutation.id] == now { return }
    try need(entry.isVoid == mutation.isVoid, "I-2 a withdrawn mutation travels as one that counts", text)
    guard let record = device.oracle.ledger[mutation.id] else { return }
    try need(
      mutation.operations == (entry.isVoid ? [] : record.operations), "I-2 offers something else than was written",
      "\(text) \(mutation.operations), written \(record.operations)")
  }

  // MARK: Order

  /// A mutation that touches a row, or needs one, waits for the earlier ones that touched or made it: itself or through
  /// others that wait.
  private func checkOrder(_ request: PushRequest) throws {
    let places = Dictionary(reading.outbox.enumerated().map { ($1.id, $0) }) { first, _ in first }
    var touching: [RowKey: [(place: Int, id: MutationID, isInsert: Bool)]] = [:]
    for (place, entry) in reading.outbox.enumerated() where !entry.isVoid {
      for operation in device.oracle.ledger[entry.id]?.operations ?? [] {
        touching[operation.key, default: []].append((place, entry.id, operation.isInsert))
      }
    }
    for mutation in request.mutations where !mutation.isVoid {
      guard let place = places[mutation.id] else { continue }
      var needed: Set<MutationID> = []
      for operation in mutation.operations {
        for other in touching[operation.key] ?? [] where other.place < place { needed.insert(other.id) }
        for key in leansOn(operation) {
          for other in touching[key] ?? [] where other.place < place && other.isInsert { needed.insert(other.id) }
        }
      }
      if needed.isEmpty { continue }
      let (reached, isKnown) = closure(of: mutation.after)
      guard isKnown else { continue }
      for id in needed.subtracting(reached) {
        throw Broken("I-10 does not wait for what it follows", "\(device.name) \(mutation.id) after \(id)")
      }
    }
  }

  /// The rows without which this one would have no space: its parents, and the roots of its spaces.
  private func leansOn(_ operation: Operation) -> [RowKey] {
    guard let table = rules.tables[operation.key.table] else { return [] }
    let fields: [Field]
    switch operation.action {
    case .insert(let given), .set(let given, _): fields = given
    case .increment, .delete: return []
    }
    var out: [RowKey] = []
    for (column, parent) in table.parents {
      let name = table.definition.columns[column].name
      for field in fields where field.column == name && !field.value.isNull { out.append(RowKey(parent, field.value)) }
    }
    return out
  }

  /// Everything that is waited for, as far as it is known what that waits for in its turn.
  private func closure(of after: [MutationID]) -> (Set<MutationID>, isKnown: Bool) {
    var (reached, left) = (Set(after), after)
    while let id = left.popLast() {
      // What has its outcome is waited for by nobody.
      guard device.oracle.ledger[id]?.fate == .pending else { continue }
      guard let more = device.waits[id] else { return (reached, false) }
      for next in more where reached.insert(next).inserted { left.append(next) }
    }
    return (reached, true)
  }
}
