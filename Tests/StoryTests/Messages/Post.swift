// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerryStore
import SkerryTesting

/// Carries messages one by one between the devices of a world and its server, and lets a fault befall those that are named.
/// Requests and answers are numbered in the order in which they leave.
final class Post {
  let world: World
  /// The faults, by the numbers of the messages.
  private var faults: [Int: Fault] = [:]
  /// How many messages have left since counting began.
  private(set) var number = 0
  /// How many faults have happened.
  private(set) var happened = 0
  /// Called before and after each transaction of a device.
  var onDevice: (String, PageEffect?) throws -> Void = { _, _ in }
  /// Called when the server has carried out a request.
  var onServed: (String, _ isPush: Bool) throws -> Void = { _, _ in }
  private(set) var journal: [String] = []
  private var late: [(due: Int, deliver: () throws -> Void)] = []
  private var waiting: Set<String> = []

  init(_ world: World) { self.world = world }

  func say(_ text: String) { journal.append("\(number): \(text)") }

  /// Counts from here on, with these faults to come.
  func count(_ faults: [Int: Fault]) {
    late = late.map { ($0.due - number, $0.deliver) }
    self.faults = faults
    number = 0
  }

  func clearJournal() { journal = [] }

  /// Whether nothing is on its way.
  var isIdle: Bool { late.isEmpty && waiting.isEmpty }

  /// One round of a device, unless it waits for an answer.
  func round(_ name: String) throws {
    try device(name).session.note(.syncWanted)
    try goOn(name)
  }

  /// Carries what is still on its way.
  func flush() throws {
    while let next = late.first {
      late.removeFirst()
      try next.deliver()
    }
  }

  private func device(_ name: String) throws -> WorldDevice {
    guard let device = world.devices[name] else { throw WorldError("no device \(name)") }
    return device
  }

  private func goOn(_ name: String) throws {
    for _ in 0..<200 {
      if waiting.contains(name) { return }
      guard case .exchange(let exchange) = try device(name).session.next() else { return }
      try onDevice(name, nil)
      try request(exchange, from: name)
    }
    throw WorldError("a round of \(name) does not end")
  }

  // MARK: On its way

  private func request(_ exchange: SyncSession.Exchange, from name: String) throws {
    let fault = leave("\(name) asks \(exchange.request.path)")
    switch fault {
    case nil: try answer(try serve(exchange, for: name), exchange, to: name)
    case .lost: try hear(.failure(.timedOut("a test")), exchange, name)
    case .doubled:
      _ = try serve(exchange, for: name)
      try answer(try serve(exchange, for: name), exchange, to: name)
    case .late(let count):
      delay(by: count) {
        let response = try self.serve(exchange, for: name)
        try self.hear(.success(response), exchange, name)
      }
      try hear(.failure(.timedOut("a test")), exchange, name)
    case .slow(let count):
      waiting.insert(name)
      delay(by: count) {
        self.waiting.remove(name)
        try self.answer(try self.serve(exchange, for: name), exchange, to: name)
        try self.goOn(name)
      }
    }
    try arrivals()
  }

  private func answer(_ response: TransportResponse, _ exchange: SyncSession.Exchange, to name: String) throws {
    let fault = leave("\(name) is answered")
    switch fault {
    case nil: try hear(.success(response), exchange, name)
    case .lost: try hear(.failure(.timedOut("a test")), exchange, name)
    case .doubled:
      try hear(.success(response), exchange, name)
      try hear(.success(response), exchange, name)
    case .late(let count):
      delay(by: count) { try self.hear(.success(response), exchange, name) }
      try hear(.failure(.timedOut("a test")), exchange, name)
    case .slow(let count):
      waiting.insert(name)
      delay(by: count) {
        self.waiting.remove(name)
        try self.hear(.success(response), exchange, name)
        try self.goOn(name)
      }
    }
    try arrivals()
  }

  private func leave(_ text: String) -> Fault? {
    number += 1
    let fault = faults[number]
    if fault != nil { happened += 1 }
    say(text + (fault.map { ", \($0)" } ?? ""))
    return fault
  }

  private func delay(by count: Int, _ deliver: @escaping () throws -> Void) {
    late.append((number + count, deliver))
    late.sort { $0.due < $1.due }
  }

  private func arrivals() throws {
    while let next = late.first, next.due < number {
      late.removeFirst()
      say("something arrives late")
      try next.deliver()
    }
  }

  // MARK: At its ends

  private func serve(_ exchange: SyncSession.Exchange, for name: String) throws -> TransportResponse {
    let response = world.serve(exchange.request, as: try device(name).user)
    try onServed(name, exchange.isPush)
    return response
  }

  private func hear(
    _ result: Result<TransportResponse, TransportError>, _ exchange: SyncSession.Exchange, _ name: String
  ) throws {
    let effect = try device(name).session.take(result, for: exchange)
    try onDevice(name, effect)
  }
}
