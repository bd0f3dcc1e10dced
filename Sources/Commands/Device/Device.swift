// SPDX-License-Identifier: Apache-2.0

import Foundation
import Skerry
import SkerryAmbientKit
import SkerryContacts
import SkerryHTTP
import SkerryModel
import SkerrySQLiteKit
import SkerryWire

/// A device that is told what to do: a replica, its engine, and a network and a clock that can be spoilt.
actor Device {
  struct Setup: Sendable {
    var folder: String
    var account: AccountID
    var schema: Schema
    /// The server's address; nil for a device that never connects.
    var server: String?
    var tokenFile: String?
    var seed: UInt64
    var stopPoint: StopPoint?
  }

  private let replica: Replica
  private let engine: SyncEngine?
  private let network: FaultyNetwork?
  private let clock: OffsetAmbient
  private let setup: Setup
  private var running: Task<Void, Never>?
  private var rounds: [Int: Task<SyncReport, any Error>] = [:]
  private var nextRound = 0
  private var isShuttingDown = false
  private var runError: String?

  init(_ setup: Setup) async throws {
    let clock = OffsetAmbient()
    self.clock = clock
    self.setup = setup
    replica = try await Replica.open(
      path: setup.folder + "/" + Replica.fileName(of: setup.account), account: setup.account, schema: setup.schema,
      ambient: clock)
    network = try Device.network(setup, clock)
    engine = network.map { [replica] in SyncEngine(replica, transport: $0) }
    if let point = setup.stopPoint {
      try await replica.withConnection { $0.monitor = { point.pass(statement: $0) } }
    }
  }

  private static func network(_ setup: Setup, _ clock: OffsetAmbient) throws -> FaultyNetwork? {
    guard let server = setup.server, let file = setup.tokenFile else { return nil }
    let transport = try HTTPTransport(baseURL: server, now: { clock.now() }, token: { try TokenCommand.read(file) })
    return FaultyNetwork(transport, seed: setup.seed)
  }

  /// How many mutations have no outcome.
  func pending() async throws -> Int { try await replica.facts().pending }

  // MARK: Looking

  func state() async throws -> JSON {
    let facts = try await replica.facts()
    return [
      "account": .string(replica.account.text), "pending": .init(facts.pending),
      "refused": .init(try await replica.read(.rejections).count),
      "lost": .array(try await replica.read(.lostSpaces).map { .string($0.text) }),
      "syncedAt": facts.syncedAt.map { .integer($0) } ?? .null, "catchingUp": .bool(facts.isCatchingUp),
      "mismatches": .integer(facts.digestMismatches), "condition": .string(await condition()),
      "running": .bool(running != nil), "runError": runError.map { .string($0) } ?? .null,
      "clockOffset": .integer(clock.offset), "network": network.map { DeviceJSON.network($0) } ?? .null,
      "report": DeviceJSON.report(await engine?.report() ?? SyncReport()),
    ]
  }

  private func condition() async -> String {
    switch await engine?.condition() {
    case nil: "no server"
    case .working?: "working"
    case .idle?: "idle"
    case .unreachable?: "unreachable"
    case .failing(let status)?: "failing, status \(status)"
    case .needsAuthentication?: "needs a token"
    case .refused(let status)?: "refused, status \(status)"
    }
  }

  func read(_ order: JSON) async throws -> JSON {
    let values = try order.list("values", or: []).map { try Value($0) }
    let rows = try await replica.read(try order.text("sql"), values)
    return [
      "columns": .array(rows.first?.columns.map { .string($0) } ?? []),
      "rows": .array(rows.map { .array($0.values.map(\.json)) }),
    ]
  }

  func outbox() async throws -> JSON {
    ["entries": .array(try await replica.read(.outbox).map(DeviceJSON.entry))]
  }

  func rejections() async throws -> JSON {
    ["rejections": .array(try await replica.read(.rejections).map(DeviceJSON.rejection))]
  }

  // MARK: Doing

  func write(_ order: JSON) async throws -> JSON {
    let steps = try order.list("operations").map { try WriteStep($0, replica.catalog) }
    let label = try order.optionalText("label")
    let id = try await replica.write(label) { [point = setup.stopPoint] tx in
      point?.enterWrite()
      for step in steps { try step.run(&tx) }
    }
    return ["mutation": id.map { .string($0.description) } ?? .null]
  }

  func importContacts(_ order: JSON) async throws -> JSON {
    let contacts = ContactsImport(folder: try order.text("folder"), team: try order.text("team"))
    let limit = try order.optionalInteger("limit").map { Int(clamping: $0) }
    do { return ["imported": .init(try await contacts.run(replica, limit: limit))] } catch let error as CocoaError {
      throw FileError(
        contacts.folder, "its files cannot be read (\(error.localizedDescription))", "see whether they are there")
    }
  }

  func sync(_ order: JSON) async throws -> JSON {
    let engine = try needEngine()
    let seconds = try order.optionalInteger("seconds") ?? 60
    guard 1...86_400 ~= seconds else { throw UsageError(description: "\"seconds\" is 1 to 86400; \(seconds) found") }
    let number = nextRound
    nextRound += 1
    let round = Task { try await engine.syncOnce(within: .seconds(seconds)) }
    rounds[number] = round
    defer { rounds[number] = nil }
    let report = try await round.value
    return [
      "report": DeviceJSON.report(report), "condition": .string(await condition()),
      "pending": .init(try await pending()),
    ]
  }

  /// Starts or ends the engine's own loop.
  func run(_ order: JSON) async throws -> JSON {
    let engine = try needEngine()
    // While one order waits here for the loop's end, another may have begun a new one: look again.
    while let current = running {
      current.cancel()
      await current.value
      if running == current { running = nil }
    }
    guard try order.flag("on"), !isShuttingDown else { return try await state() }
    runError = nil
    running = Task {
      do { try await engine.run() } catch { self.ended(error) }
    }
    return try await state()
  }

  /// Ends what is under way, before the process does.
  func shutDown() async {
    isShuttingDown = true
    running?.cancel()
    for round in rounds.values { round.cancel() }
    for round in Array(rounds.values) { _ = await round.result }
    await running?.value
  }

  /// The loop has ended by itself.
  private func ended(_ error: any Error) {
    if Task.isCancelled { return }
    runError = "\(error)"
    running = nil
  }

  func setNetwork(_ order: JSON) async throws -> JSON {
    guard let network else { throw UsageError(description: "the device was started without --server") }
    try network.change { try DeviceJSON.change(&$0, by: order) }
    return try await state()
  }

  func setClock(_ order: JSON) async throws -> JSON {
    clock.offset = try order.integer("offset")
    return try await state()
  }

  func acknowledge(_ order: JSON) async throws -> JSON {
    let id = try order.text("id")
    guard let rejection = try await replica.read(.rejections).first(where: { $0.id.description == id }) else {
      throw StoreError(.notFound, "no refusal of mutation \(id) waits here")
    }
    try await replica.acknowledge(rejection)
    return try await state()
  }

  func discard(_ order: JSON) async throws -> JSON {
    try await replica.discard(try await entry(order))
    return try await state()
  }

  func retry(_ order: JSON) async throws -> JSON {
    try await replica.retry(try await entry(order))
    return try await state()
  }

  private func entry(_ order: JSON) async throws -> OutboxEntry {
    let id = try order.text("id")
    guard let entry = try await replica.read(.outbox).first(where: { $0.id.description == id }) else {
      throw StoreError(.notFound, "mutation \(id) does not wait here")
    }
    return entry
  }

  private func needEngine() throws -> SyncEngine {
    if isShuttingDown { throw UsageError(description: "the device is ending") }
    guard let engine else { throw UsageError(description: "the device was started without --server") }
    return engine
  }
}
