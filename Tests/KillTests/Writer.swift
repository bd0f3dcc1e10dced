// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryCommands
import SkerryMachine
import SkerryWire

/// One of several that give orders to a device at the same time, and write down what they were promised.
///
/// When the device dies in the middle of an order, the order's fate is unknown, and the writer goes on with the next process.
struct Writer {
  let name: String
  let seat: Seat
  let ledger: Ledger
  let progress: Progress
  let findings: Findings
  private var random: SeededGenerator
  /// The numbers of the people that this writer has to itself.
  private var own: [Int] = []

  init(_ name: String, _ seat: Seat, _ ledger: Ledger, _ progress: Progress, _ findings: Findings, seed: UInt64) {
    self.name = name
    self.seat = seat
    self.ledger = ledger
    self.progress = progress
    self.findings = findings
    random = SeededGenerator(seed: seed)
  }

  /// Writes until the load is over.
  mutating func run() async throws {
    var generation = 0
    while let sitting = await seat.next(after: generation) {
      generation = sitting.generation
      guard try await ask(sitting, "/network", Writer.faults) != nil else { continue }
      var count = 0
      while !seat.isClosed {
        if count % 8 == 0 { guard try await look(sitting) else { break } }
        count += 1
        guard try await write(sitting) else { break }
      }
    }
  }

  /// Chance has its part in each device's network.
  private static let faults: JSON = [
    "chances": ["dropRequest": .real(0.05), "dropAnswer": .real(0.05), "duplicate": .real(0.05), "delay": .real(0.02)],
    "delayMilliseconds": 40,
  ]

  // MARK: One order

  /// - Returns: false if the process is no more.
  private mutating func write(_ sitting: Seat.Sitting) async throws -> Bool {
    guard let (order, remember) = try await next(ledger.nextNumber(), sitting) else {
      return seat.isTaken(by: sitting.generation)
    }
    try await ledger.intend(order)
    let message: JSON = ["label": .string(order.label), "operations": .array(order.steps.map(\.json))]
    do {
      let answer = try await sitting.device.order("/write", message)
      guard case .string(let mutation)? = answer["mutation"] else {
        findings.add("\(order.label) changed nothing, by the device's account")
        return true
      }
      try await ledger.acknowledge(order, mutation: mutation)
      remember(&self)
      progress.advance()
    } catch let error as ProcessError where error.status == 422 {
      try await ledger.refuse(order, error.description)
    } catch let error as ProcessError {
      // Whatever it is, it is no word on what became of the order. A process that is told to end may say so.
      guard seat.isTaken(by: sitting.generation) else { return false }
      findings.add("\(name), \(order.label): \(error)")
    } catch is TransportError {
      try noteBreak(sitting, order.label)
      return false
    }
    return true
  }

  /// The connection broke. That is to be expected of a process that is being killed, and of no other.
  private func noteBreak(_ sitting: Seat.Sitting, _ what: String) throws {
    if !seat.isTaken(by: sitting.generation) { return }
    try Task.checkCancellation()
    throw ProcessError("\(name), \(what): a process that nobody killed broke the connection")
  }

  /// - Returns: what the device says; nil if it is no more, or says no.
  private func ask(_ sitting: Seat.Sitting, _ path: String, _ message: JSON = .object([])) async throws -> JSON? {
    do { return try await sitting.device.order(path, message) } catch is TransportError {
      try noteBreak(sitting, path)
    } catch {
      if seat.isTaken(by: sitting.generation) { findings.add("\(name): \(error)") }
    }
    return nil
  }

  /// Looks at the device's state, wakes a loop that waits after failures, and lets a long outbox drain.
  ///
  /// - Returns: false if the process is no more.
  private func look(_ sitting: Seat.Sitting) async throws -> Bool {
    // Not for ever: if it does not drain, the end of the test says so.
    for _ in 0..<100 where !seat.isClosed {
      guard let state = try await ask(sitting, "/state") else { return false }
      judge(state, sitting)
      if case .string(let condition)? = state["condition"], condition != "idle", condition != "working" {
        guard try await ask(sitting, "/run", ["on": true]) != nil else { return false }
      }
      guard case .integer(let pending)? = state["pending"], pending > 150 else { return true }
      try? await SystemAmbient.clock.sleep(for: .milliseconds(10))
    }
    return true
  }

  private func judge(_ state: JSON, _ sitting: Seat.Sitting) {
    if state["mismatches"] != 0 { findings.add("\(name): the digests differ: \(state["mismatches"] ?? nil)") }
    if let error = state["runError"], error != .null { findings.add("\(name): the loop has ended: \(error)") }
    let met = state["network"]?["met"]
    func count(_ fault: String) -> Int { if case .integer(let number)? = met?[fault] { Int(number) } else { 0 } }
    let device = name.split(separator: ".").first ?? ""
    findings.note(
      network: "\(device) \(sitting.generation)", lost: count("dropRequest") + count("dropAnswer"),
      doubled: count("duplicate"))
  }

  // MARK: What to write

  /// An order, and what the writer remembers once it is acknowledged; nil if the process broke or there is nothing to do.
  private mutating func next(
    _ number: Int, _ sitting: Seat.Sitting
  ) async throws -> (Order, @Sendable (inout Writer) -> Void)? {
    func order(_ steps: [Step]) -> Order { Order(writer: name, number: number, steps: steps) }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<20: return (order(insert(number)), { $0.own.append(number) })
    case 20..<38: return (order(count(number)), { _ in })
    case 38..<50: return (order(bareCount()), { _ in })
    case 50..<62: return (order(move(number)), { _ in })
    case 62..<77:
      guard let person = random.pick(own) else { return (order(insert(number)), { $0.own.append(number) }) }
      return (order(update(person, number)), { _ in })
    case 77..<82:
      guard let index = own.indices.randomElement(using: &random) else { return (order(count(number)), { _ in }) }
      // Whether or not it is acknowledged: nobody can tell what is left of it.
      return (order(Writer.delete(own.remove(at: index))), { _ in })
    case 82..<88: return (order(publish(number)), { _ in })
    default:
      let isEnd = random.chance(0.3)
      guard let row = try await sharedRow(sitting) else { return nil }
      return (order([isEnd ? .delete(row) : .update(row, Writer.shared(number))]), { _ in })
    }
  }

  private static func tag(_ number: Int) -> JSON { .string("t\(number)") }

  /// Two columns that are always set together.
  private static func shared(_ number: Int) -> [String: JSON] { ["nickname": tag(number), "phone": tag(number)] }

  private static func person(_ id: String, _ number: Int, _ name: String) -> (RowName, [String: JSON]) {
    (
      RowName(table: "people", id: id),
      ["team": .string(Rows.team), "first": .string(name), "last": .string("order \(number)")]
    )
  }

  /// Three rows of two tables: all or none.
  private func insert(_ number: Int) -> [Step] { Writer.insert(number, by: name) }

  static func insert(_ number: Int, by name: String) -> [Step] {
    let (row, values) = person("\(Rows.own)\(number)", number, name)
    return [
      .insert(row, values.merging(["role": tag(number)]) { $1 }),
      .insert(office(number, "a"), ["person": .string(row.id), "hours": tag(number)]),
      .insert(office(number, "b"), ["person": .string(row.id)]),
    ]
  }

  private static func office(_ number: Int, _ letter: String) -> RowName {
    RowName(table: "offices", id: "\(Rows.office)\(number)\(letter)")
  }

  private func update(_ person: Int, _ number: Int) -> [Step] {
    [
      .update(RowName(table: "people", id: "\(Rows.own)\(person)"), ["role": Writer.tag(number)]),
      .update(Writer.office(person, "a"), ["hours": Writer.tag(number)]),
    ]
  }

  static func delete(_ person: Int) -> [Step] {
    [
      .delete(office(person, "a")), .delete(office(person, "b")),
      .delete(RowName(table: "people", id: "\(Rows.own)\(person)")),
    ]
  }

  private mutating func count(_ number: Int) -> [Step] {
    let amount = Int64.random(in: 1...9, using: &random)
    return Writer.count(Int.random(in: Rows.counters.indices, using: &random), amount, "\(number)")
  }

  private mutating func bareCount() -> [Step] {
    let row = Rows.bareCounters[Int.random(in: Rows.bareCounters.indices, using: &random)]
    return [.increment(row, "visits", Int64.random(in: 1...9, using: &random))]
  }

  /// From one counter to another.
  private mutating func move(_ number: Int) -> [Step] {
    let from = Int.random(in: Rows.counters.indices, using: &random)
    let to = (from + Int.random(in: 1..<Rows.counters.count, using: &random)) % Rows.counters.count
    let amount = Int64.random(in: 1...9, using: &random)
    return Writer.count(from, -amount, "\(number)a") + Writer.count(to, amount, "\(number)b")
  }

  /// An increment, and the mark that shows whether it counted.
  static func count(_ counter: Int, _ amount: Int64, _ mark: String) -> [Step] {
    let row = Rows.counters[counter]
    return [
      .increment(row, "visits", amount),
      .insert(
        RowName(table: "offices", id: Rows.mark + mark),
        ["person": .string(row.id), "suite": .string("\(amount)")]),
    ]
  }

  private func publish(_ number: Int) -> [Step] {
    let (row, values) = Writer.person("\(Rows.shared)\(number)", number, name)
    return [.insert(row, values.merging(Writer.shared(number)) { $1 })]
  }

  /// One of the shared rows that the device shows.
  private mutating func sharedRow(_ sitting: Seat.Sitting) async throws -> RowName? {
    let sql = "SELECT id FROM people WHERE id >= 'X' AND id < 'Y' ORDER BY id LIMIT 40"
    guard let answer = try await ask(sitting, "/read", ["sql": .string(sql)]),
      case .array(let rows)? = answer["rows"], case .array(let row)? = random.pick(rows),
      case .string(let id)? = row.first
    else { return nil }
    return RowName(table: "people", id: id)
  }
}
