// SPDX-License-Identifier: Apache-2.0
import Foundation
import Skerry
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Synchronization
import Testing

/// Replicas with engines on a server in this process, on a clock that only the test moves.
@Suite struct EngineTests: EngineBench {
  let folder: TemporaryFolder
  let ambient = VirtualAmbient(seed: 12)
  let clock = ManualClock()

  init() throws { folder = try TemporaryFolder() }

  private func titles(_ replica: Replica) async throws -> [String] {
    try await replica.read("SELECT id, title FROM book ORDER BY id").map {
      "\($0["id"]?.text ?? "") \($0["title"]?.text ?? "-")"
    }
  }

  @Test func `two devices come to the same rows and digests`() async throws {
    let harbour = try Harbour()
    let (one, two) = (try await replica("a"), try await replica("b"))
    let engines = [engine(one, harbour), engine(two, harbour)]
    for number in 0..<7 {
      try await one.write { try $0.insert("book", ["id": .text("a\(number)"), "owner": "ana", "title": "from one"]) }
    }
    try await two.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    for engine in engines + engines {
      let report = try await engine.syncOnce(within: .seconds(25))
      #expect(report.isConsistent)
      #expect(report.failures == 0)
    }
    #expect(try await titles(one) == titles(two))
    #expect(try await titles(one).count == 8)
    #expect(try await one.digests() == two.digests())
    #expect(try await one.facts().pending == 0)
    #expect(try await one.facts().syncedAt == ambient.now())
    let server = try harbour.withWorld { try $0.server.digest(of: "user:ana") }
    #expect(try await one.digests()["user:ana"] == server)
  }

  @Test func `nothing starts before it is asked to`() async throws {
    let harbour = try Harbour()
    let engine = engine(try await replica(), harbour)
    #expect(harbour.requests.isEmpty)
    #expect(await engine.condition() == .idle)
    #expect(await engine.report() == SyncReport())
  }

  @Test func `a report tells of one call only`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    let first = try await engine.syncOnce(within: .seconds(1))
    #expect(first.pushed == 1)
    #expect(first.settled == 1)
    #expect(first.pulled > 0)
    let second = try await engine.syncOnce(within: .seconds(1))
    #expect(second.pushed == 0)
    #expect(second.settled == 0)
    #expect(second.pulled == 0)
    #expect(second.isConsistent)
  }

  @Test func `run syncs after each write and at the interval, and ends when its task is cancelled`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    let running = Task { try await engine.run() }
    await clock.sleepers(reach: 1)
    let first = harbour.requests.count
    #expect(await engine.condition() == .idle)
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    await harbour.requests(reach: first + 2)
    await clock.sleepers(reach: 1)
    #expect(harbour.requests[first...] == ["/v1/push", "/v1/pull"])
    #expect(try await replica.facts().pending == 0)
    pass(30_000)
    await harbour.requests(reach: first + 3)
    await clock.sleepers(reach: 1)
    #expect(harbour.requests.last == "/v1/pull")
    running.cancel()
    try await running.value
  }

  @Test func `run ends when it is cancelled in the middle of a request, and the next call goes on`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    harbour.set(.silent)
    let running = Task { try await engine.run() }
    await harbour.requests(reach: 1)
    running.cancel()
    try await running.value
    #expect(try await replica.read(.outbox).map(\.state) == [.sent])
    harbour.set(.fair)
    let report = try await engine.syncOnce(within: .seconds(1))
    #expect(report.settled == 1)
  }

  @Test func `syncOnce returns when its time is over, and keeps what it has`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    harbour.set(.silent)
    let call = Task { try await engine.syncOnce(within: .seconds(20)) }
    await harbour.requests(reach: 1)
    await clock.sleepers(reach: 1)
    pass(20_000)
    #expect(try await call.value.isConsistent == false)
    harbour.set(.fair)
    #expect(try await engine.syncOnce(within: .seconds(20)).isConsistent)
  }

  @Test func `B123 syncOnce does not wait for a server that cannot be reached, and does not call it success`()
    async throws
  {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    harbour.set(.fails(.unreachable("no route")))
    let report = try await engine.syncOnce(within: .seconds(20))
    #expect(report.failures == 1)
    #expect(!report.isConsistent)
    #expect(await engine.condition() == .unreachable)
    #expect(try await replica.facts().syncedAt == nil)
  }

  @Test func `F-L06 B14 twenty wishes at once make one request at a time and few in all`() async throws {
    let harbour = try Harbour()
    let engine = engine(try await replica(), harbour)
    let running = Task { try await engine.run() }
    await clock.sleepers(reach: 1)
    let before = harbour.requests.count
    harbour.hold()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { await engine.requestSync() } }
    }
    await harbour.requests(reach: before + 1)
    harbour.letGo()
    await clock.sleepers(reach: 1)
    #expect(harbour.mostAtOnce == 1)
    #expect(harbour.requests.count <= before + 2)
    running.cancel()
    try await running.value
  }

  @Test func `F-L06 a second driver is told that the engine is at work`() async throws {
    let harbour = try Harbour()
    let engine = engine(try await replica(), harbour)
    let running = Task { try await engine.run() }
    await clock.sleepers(reach: 1)
    await #expect(throws: EngineBusy.self) { try await engine.run() }
    await #expect(throws: EngineBusy.self) { try await engine.syncOnce(within: .seconds(1)) }
    running.cancel()
    try await running.value
    _ = try await engine.syncOnce(within: .seconds(1))
  }

  @Test func `F-N13 B29 a token that is not accepted pauses, keeps everything, and goes on with a new one`()
    async throws
  {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    harbour.set(
      .answers(TransportResponse(status: 401, contentType: "application/problem+json", body: [])))
    let running = Task { try await engine.run() }
    await harbour.requests(reach: 1)
    while await engine.condition() != .needsAuthentication { await Task.yield() }
    // Once more with what the token source gives then, and after that no more than somebody asks for.
    for _ in 0..<3 { await Task.yield() }
    #expect(Set(harbour.requests) == ["/v1/push"])
    #expect(try await replica.facts().pending == 1)
    #expect(try await titles(replica) == ["dune -"])
    harbour.set(.fair)
    for _ in 0..<10_000 where try await replica.facts().pending > 0 {
      await engine.authenticated()
      await engine.requestSync()
      await Task.yield()
    }
    #expect(try await replica.facts().pending == 0)
    running.cancel()
    try await running.value
  }

  @Test func `F-N11 requestSync keeps the wait that the server asked for`() async throws {
    let harbour = try Harbour()
    let engine = engine(try await replica(), harbour)
    harbour.set(.answers(TransportResponse(status: 429, contentType: nil, retryAfter: 300_000, body: [])))
    let running = Task { try await engine.run() }
    await clock.sleepers(reach: 1)
    for _ in 0..<5 { await engine.requestSync() }
    await clock.sleepers(reach: 1)
    pass(299_000)
    await engine.requestSync()
    await clock.sleepers(reach: 1)
    #expect(harbour.requests.count == 1)
    harbour.set(.fair)
    pass(61_000)
    await harbour.requests(reach: 2)
    running.cancel()
    try await running.value
  }

  @Test func `run waits while another process holds the file, and then goes on`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    let held = Mutex(2)
    try await replica.withConnection { connection in
      connection.monitor = { sql in
        guard sql == "BEGIN IMMEDIATE" else { return }
        let isHeld = held.withLock { left in
          left -= 1
          return left >= 0
        }
        if isHeld { throw SQLiteError(extendedCode: 5, message: "database is locked") }
      }
    }
    let running = Task { try await engine.run() }
    for _ in 0..<2 {
      await clock.sleepers(reach: 1)
      pass(1_000)
    }
    await harbour.requests(reach: 2)
    await clock.sleepers(reach: 1)
    #expect(try await replica.facts().pending == 0)
    running.cancel()
    try await running.value
  }

  @Test(.timeLimit(.minutes(1))) func `the next page is on its way while one is taken in`() async throws {
    let harbour = try Harbour()
    try harbour.withWorld { world in
      for number in 0..<20 {
        try world.foreign.run("INSERT INTO book(id, owner) VALUES (?, 'ana')", .text("b\(number)"))
      }
    }
    let replica = try await replica()
    let engine = engine(replica, harbour)
    let taken = Mutex(0)
    // The first page is not taken in before the next one was asked for.
    try await replica.withConnection { connection in
      connection.monitor = { sql in
        guard sql.hasPrefix("INSERT INTO skerry_stage") || sql.hasPrefix("INSERT  INTO \"book\"") else { return }
        guard
          taken.withLock({
            $0 += 1
            return $0 == 1
          })
        else { return }
        // The first request is answered with a reset, the second with this page.
        while harbour.requests.count < 3 { usleep(500) }
      }
    }
    let report = try await engine.syncOnce(within: .seconds(20))
    #expect(report.isConsistent)
    #expect(taken.withLock { $0 } > 1)
    #expect(try await titles(replica).count == 20)
    #expect(harbour.mostAtOnce == 1)
    let server = try harbour.withWorld { try $0.server.digest(of: "user:ana") }
    #expect(try await replica.digests()["user:ana"] == server)
  }
}
