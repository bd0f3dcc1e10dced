// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// CASES.md, what concerns a running engine: tasks, waits, pauses and hints.
@Suite struct EngineCases: EngineBench {
  let folder: TemporaryFolder
  let ambient = VirtualAmbient(seed: 14)
  let clock = ManualClock()

  init() throws { folder = try TemporaryFolder() }

  private func ids(_ replica: Replica) async throws -> [String] {
    try await replica.read("SELECT id FROM book ORDER BY id").compactMap { $0["id"]?.text }
  }

  private func add(_ ids: String..., to harbour: Harbour) throws {
    try harbour.withWorld { world in
      for id in ids { try world.foreign.run("INSERT INTO book(id, owner) VALUES (?, 'ana')", .text(id)) }
    }
  }

  @Test func `B14 a row that twenty tasks ask for is inserted and told once, and one that gives up takes nobody along`()
    async throws
  {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    let running = Task { try await engine.run() }
    await clock.sleepers(reach: 1)
    try add("m1", to: harbour)
    let (before, rounds) = (harbour.requests.count, await engine.report().rounds)
    var events = replica.events().makeAsyncIterator()
    harbour.hold()
    let tasks = (0..<20).map { _ in Task { await engine.requestSync() } }
    tasks[7].cancel()
    for task in tasks { await task.value }
    await harbour.requests(reach: before + 1)
    harbour.letGo()
    await clock.sleepers(reach: 1)
    #expect(harbour.requests.count <= before + 2)
    #expect(await events.next() == .changed(tables: ["book"]))
    for _ in 0..<(await engine.report().rounds - rounds) { #expect(await events.next() == .consistent) }
    #expect(try await ids(replica) == ["m1"])
    running.cancel()
    try await running.value
  }

  enum Fault: String, CaseIterable {
    case busy, tokenRanOut, noName, asleep

    var weather: Harbour.Weather {
      switch self {
      case .busy, .asleep: .answers(TransportResponse(status: 503, contentType: nil, body: []))
      case .tokenRanOut: .answers(TransportResponse(status: 401, contentType: "application/problem+json", body: []))
      case .noName: .fails(.unreachable("the name does not resolve"))
      }
    }
  }

  @Test(arguments: Fault.allCases)
  func `B28 a push that failed once is sent again without anybody's doing`(_ fault: Fault) async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    try await replica.write { try $0.insert("book", ["id": "n1", "owner": "ana"]) }
    harbour.set(fault.weather)
    let running = Task { try await engine.run() }
    await harbour.requests(reach: 1)
    await clock.sleepers(reach: 1)
    #expect(try await replica.facts().pending == 1)
    harbour.set(.fair)
    // The wait after a first failure is a second at most; or the app was in the background for an hour.
    pass(fault == .asleep ? 3_600_000 : 1_001)
    await harbour.requests(reach: 2)
    await clock.sleepers(reach: 1)
    #expect(try await replica.facts().pending == 0)
    #expect(try harbour.withWorld { try $0.foreign.query("SELECT id FROM book") { $0.text(0) } } == ["n1"])
    running.cancel()
    try await running.value
  }

  @Test func `B37 a pause in the wait for a retry, or time that the system takes away, counts nothing as sent`()
    async throws
  {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    for number in 0..<3 {
      try await replica.write { try $0.insert("book", ["id": .text("\(number)"), "owner": "ana"]) }
    }
    harbour.set(.fails(.unreachable("down")))
    let first = Task { try await engine.run() }
    await harbour.requests(reach: 1)
    await clock.sleepers(reach: 1)
    first.cancel()
    try await first.value
    #expect(try await replica.facts().pending == 3)
    harbour.set(.silent)
    let call = Task { try await engine.syncOnce(within: .seconds(5)) }
    await harbour.requests(reach: 2)
    await clock.sleepers(reach: 1)
    pass(5_000)
    #expect(try await call.value.pushed == 0)
    #expect(try await replica.facts().pending == 3)
    harbour.set(.fair)
    let report = try await engine.syncOnce(within: .seconds(5))
    #expect(report.settled == 3)
    #expect(try await replica.facts().pending == 0)
    #expect(try harbour.withWorld { try $0.foreign.first("SELECT count(*) FROM book") { $0.integer(0) } } == 3)
  }

  @Test func `B49 what happened while the device slept is fetched when it wakes, and a lost hint costs an interval`()
    async throws
  {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    try add("m1", to: harbour)
    let running = Task { try await engine.run() }
    await clock.sleepers(reach: 1)
    #expect(try await ids(replica) == ["m1"])
    try add("m2", "m3", to: harbour)
    pass(120_000)
    await clock.sleepers(reach: 1)
    #expect(try await ids(replica) == ["m1", "m2", "m3"])
    // A hint, and the one before it again.
    try add("m4", to: harbour)
    let before = harbour.requests.count
    for _ in 0..<2 { await engine.requestSync() }
    await harbour.requests(reach: before + 1)
    await clock.sleepers(reach: 1)
    #expect(try await ids(replica) == ["m1", "m2", "m3", "m4"])
    try add("m5", to: harbour)
    pass(30_000)
    await clock.sleepers(reach: 1)
    #expect(try await ids(replica).last == "m5")
    running.cancel()
    try await running.value
  }

  @Test func `B120 a backlog goes on in the next slot of time where the last one ended`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    _ = try await engine.syncOnce(within: .seconds(30))
    for number in 0..<40 {
      try await replica.write { try $0.insert("book", ["id": .text("b\(number)"), "owner": "ana"]) }
    }
    let start = harbour.requests.count
    harbour.hold()
    let slot = Task { try await engine.syncOnce(within: .seconds(30)) }
    await harbour.requests(reach: start + 1)
    harbour.letGo()
    await harbour.requests(reach: start + 5)
    harbour.set(.silent)
    await clock.sleepers(reach: 1)
    pass(30_000)
    let pushed = try await slot.value.pushed
    harbour.set(.fair)
    let rest = try await engine.syncOnce(within: .seconds(30))
    #expect(rest.isConsistent)
    #expect(pushed + rest.pushed == 40, "what was judged is not judged again")
    #expect(try await replica.facts().pending == 0)
    #expect(harbour.requests[start...].count { $0 == "/v1/push" } <= 14 + 1)
  }
}
