// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryMachine
import SkerryModel
import SkerryWire

/// A device's way to the network.
struct DeviceTransport: Transport {
  let device: DeviceNode
  let life: Int
  let network: Network

  /// Sends one request and waits for its response, or for the device's patience to end.
  func exchange(_ request: TransportRequest) async throws -> TransportResponse {
    let offered = network.begins(request, device, life)
    do {
      let response = try await send(request)
      network.ends(request, offered, .success(response), device, life)
      return response
    } catch {
      network.ends(request, offered, .failure(error), device, life)
      throw error
    }
  }

  private func send(_ request: TransportRequest) async throws -> TransportResponse {
    let waiter = OneShot<TransportResponse>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if waiter.begin(continuation) { network.send(request, from: device, life: life, waiter) }
      }
    } onCancel: {
      waiter.end(.failure(TransportError.cancelled))
    }
  }
}

/// Carries messages between devices and servers, and does to them what the fault tape says.
// Unchecked: used on the scheduler's one thread.
final class Network: @unchecked Sendable {
  unowned let world: SimulatedWorld
  private let seed: UInt64
  private var recent: [(device: Int, isPush: Bool, response: TransportResponse)] = []
  private(set) var messages = 0

  init(_ world: SimulatedWorld, seed: UInt64) {
    self.world = world
    self.seed = seed
  }

  /// A message on its way, with the draws that decide what becomes of it.
  struct Message {
    let request: TransportRequest
    let device: DeviceNode
    let life: Int
    let waiter: OneShot<TransportResponse>
    let fault: FaultKind?
    var random: SeededGenerator
    let arrow: Int
    /// Who answers: a server, or something on the way.
    var answerer = "network"

    var isPush: Bool { request.path == "/v1/push" }
  }

  func send(_ request: TransportRequest, from device: DeviceNode, life: Int, _ waiter: OneShot<TransportResponse>) {
    guard device.isUp, device.life == life else {
      waiter.end(.failure(TransportError.cancelled))
      return
    }
    messages += 1
    device.messages += 1
    // Each message has a tape of its own, so that one more or less leaves the others' faults as they are.
    var random = SeededGenerator(seed: seed ^ UInt64(device.number) << 48 ^ device.messages)
    _ = random.next()
    let fault = drawFault(&random)
    world.journal.fold(request.body)
    let arrow = world.journal.send(device.name, "network", world.now, request.path)
    var message = Message(
      request: request, device: device, life: life, waiter: waiter, fault: fault, random: random, arrow: arrow)
    let patience = world.plan.profile.timeOut
    world.scheduler.after(patience) { self.timeOut(message) }
    let latency = Int64(message.random.next() % 120) + 1
    world.scheduler.after(latency) { self.arrive(message) }
  }

  private func drawFault(_ random: inout SeededGenerator) -> FaultKind? {
    let isStruck = random.chance(world.plan.profile.messageFaults)
    let kinds = FaultKind.ofMessages.filter { world.plan.profile.faults.contains($0.0) }
    let total = kinds.reduce(0) { $0 + $1.1 }
    let number = random.next()
    guard isStruck, world.isStormy, total > 0 else { return nil }
    var left = Int(number % UInt64(total))
    for (kind, weight) in kinds {
      if left < weight { return kind }
      left -= weight
    }
    return nil
  }

  private func timeOut(_ message: Message) {
    if message.waiter.end(.failure(TransportError.timedOut("total"))) {
      say(message, "hears nothing on \(message.request.path)")
    }
  }

  private func say(_ message: Message, _ text: @autoclosure () -> String) {
    world.journal.say(world.now, message.device.name, nil, text())
  }

  private func note(_ kind: FaultKind, _ message: Message) {
    world.faults.note(kind)
    world.journal.say(world.now, message.device.name, .fault, "\(kind.rawValue) on \(message.request.path)")
  }

  // MARK: At the server

  private func arrive(_ message: Message) {
    var message = message
    if message.device.isAway {
      _ = message.waiter.end(.failure(TransportError.unreachable("no network")))
      return
    }
    if let partition = message.device.partition, partition != .partitionInward {
      // A line that flaps is there every other moment.
      if partition != .flapping || world.now / 300 % 2 == 0 {
        world.faults.note(partition)
        if partition == .flapping { _ = message.waiter.end(.failure(TransportError.broken("reset"))) }
        return
      }
    }
    switch message.fault {
    case .requestLost: return note(.requestLost, message)
    case .unreachable:
      note(.unreachable, message)
      _ = message.waiter.end(.failure(TransportError.unreachable("no route")))
    case .requestLate:
      note(.requestLate, message)
      let delay = world.plan.profile.timeOut + Int64(message.random.next() % 4_000_000)
      world.scheduler.after(delay) { [message] in self.serveAndAnswer(message) }
    case .requestDoubled:
      note(.requestDoubled, message)
      let delay = Int64(message.random.next() % 3_000)
      world.scheduler.after(delay) { [message] in _ = self.serve(message) }
      serveAndAnswer(message)
    case .requestCut:
      note(.requestCut, message)
      let end = message.request.body.isEmpty ? 0 : Int(message.random.next() % UInt64(message.request.body.count))
      var request = message.request
      request.body = Array(request.body.prefix(end))
      serveAndAnswer(message, request)
    case .serverError, .portal, .tooManyRequests, .tooLarge, .unauthorized: answerInstead(&message)
    default: serveAndAnswer(message)
    }
  }

  /// Something on the way answers, and the server never hears of it.
  private func answerInstead(_ message: inout Message) {
    guard let kind = message.fault else { return }
    note(kind, message)
    deliver(FalseAnswer.make(kind, &message.random), message)
  }

  private func serve(_ message: Message, _ request: TransportRequest? = nil) -> TransportResponse? {
    world.serve(request ?? message.request, from: message.device)
  }

  private func serveAndAnswer(_ message: Message, _ request: TransportRequest? = nil) {
    var message = message
    let response = serve(message, request)
    message.answerer = world.served
    world.journal.arrive(message.arrow, world.now, at: world.served)
    guard let response else {
      // The process died over it, or none was up.
      _ = message.waiter.end(.failure(TransportError.broken("reset")))
      return
    }
    answer(message, response)
  }

  // MARK: On the way back

  private func answer(_ message: Message, _ response: TransportResponse) {
    var (message, response) = (message, response)
    world.journal.fold(response.body)
    remember(response, message)
    if let partition = message.device.partition, partition == .partitionInward || partition == .partitionBoth {
      world.faults.note(partition)
      return
    }
    switch message.fault {
    case .answerLost: return note(.answerLost, message)
    case .answerCut:
      note(.answerCut, message)
      let end = response.body.isEmpty ? 0 : Int(message.random.next() % UInt64(response.body.count))
      response.body = Array(response.body.prefix(end))
    case .answerStale, .answersSwapped:
      guard let kind = message.fault else { break }
      let others = recent.dropLast().filter { old in
        old.isPush == message.isPush && (old.device == message.device.number) == (kind == .answerStale)
      }
      guard !others.isEmpty else { break }
      note(kind, message)
      response = others[others.startIndex + Int(message.random.next() % UInt64(others.count))].response
    case .answerSlow:
      // Within the device's patience, or only just beyond it: people and others go on meanwhile.
      note(.answerSlow, message)
      let delay = Int64(message.random.next() % UInt64(world.plan.profile.timeOut + 200))
      world.scheduler.after(delay) { [message, response] in self.deliver(response, message) }
      return
    default: break
    }
    let latency = Int64(message.random.next() % 120) + 1
    world.scheduler.after(latency) { [message, response] in self.deliver(response, message) }
  }

  private func remember(_ response: TransportResponse, _ message: Message) {
    recent.append((message.device.number, message.isPush, response))
    if recent.count > 24 { recent.removeFirst() }
  }

  private func deliver(_ response: TransportResponse, _ message: Message) {
    guard message.device.isUp, message.device.life == message.life else { return }
    if message.device.frozenUntil > world.now {
      world.scheduler.at(message.device.frozenUntil) { self.deliver(response, message) }
      return
    }
    let arrow = world.journal.send(message.answerer, message.device.name, world.now, "\(response.status)")
    world.journal.arrive(arrow, world.now)
    world.hears(message.device)
    _ = message.waiter.end(.success(response))
  }
}

/// Answers that no Skerry server gives: what lies between makes them.
enum FalseAnswer {
  static func make(_ kind: FaultKind, _ random: inout SeededGenerator) -> TransportResponse {
    let number = Int(random.next() % 1_000)
    let problem = Array(#"{"type":"about:blank","title":"x","status":500,"detail":"x"}"#.utf8)
    switch kind {
    case .portal:
      let page = Array("<html><body>Welcome to the airport</body></html>".utf8)
      let types: [String?] = ["text/html", "application/json", nil]
      return TransportResponse(status: [200, 302, 511][number % 3], contentType: types[number / 3 % 3], body: page)
    case .tooManyRequests:
      let waits: [Int64?] = [nil, 0, 1_000, 30_000, 1_000_000_000_000]
      return TransportResponse(
        status: 429, contentType: "application/problem+json", retryAfter: waits[number % 5], body: problem)
    case .tooLarge:
      return TransportResponse(
        status: 413, contentType: number % 2 == 0 ? "application/problem+json" : "text/html", body: problem)
    case .unauthorized: return TransportResponse(status: 401, contentType: "application/problem+json", body: problem)
    default:
      let types: [String?] = ["application/problem+json", "text/html", "application/json", nil]
      let wait: Int64? = number % 7 == 0 ? 5_000 : nil
      return TransportResponse(
        status: [500, 502, 503, 504][number % 4], contentType: types[number / 4 % 4], retryAfter: wait,
        body: number % 3 == 0 ? [] : problem)
    }
  }
}
