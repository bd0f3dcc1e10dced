// SPDX-License-Identifier: Apache-2.0
import SkerryTesting
import Synchronization
import Testing

/// A story for each thing that happens to a device, its disk, the server, and the engine in the background.
@Suite struct DeviceFaultStories {
  @Test func `a killed app is away until it is started again, and has all that it wrote`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    let old = office.ana.replica
    await office.ana.kill()
    #expect(!office.ana.isRunning)
    await #expect(throws: (any Error).self) { try await old.write { try $0.increment(Office.luz, "visits") } }
    let failure = await #expect(throws: TestFailure.self) { try await office.world.expectPending(office.ana, 1) }
    #expect(failure?.reason == "ana's phone: the app is not running; call restart() first")
    await #expect(throws: TestFailure.self) { try await office.ana.sync() }
    try await office.ana.restart()
    #expect(office.ana.replica !== old)
    try await office.world.expectPending(office.ana, 1)
    try await office.end(visits: 1)
  }

  @Test func `an app that is killed while an answer is on its way asks again, and nothing counts twice`() async throws {
    let office = try await Office()
    office.ana.start()
    try await office.visit(office.ana)
    office.world.network.delayNextAnswer(of: office.ana, by: .minutes(1), .push)
    await office.world.clock.advance(by: .seconds(5))
    try await office.expectVisits(1)
    await office.ana.kill()
    try await office.ana.restart()
    #expect(!office.ana.isStarted)
    try await office.world.expectPending(office.ana, 1)
    try await office.end(visits: 1)
  }

  @Test func `a machine that loses power has all that write returned for`() async throws {
    let office = try await Office()
    for number in 0..<5 { try await office.add("p\(number)", on: office.ana) }
    await office.ana.losePower()
    try await office.ana.restart()
    try await office.world.expectPending(office.ana, 5)
    try await office.world.expect(office.ana, "SELECT count(*) FROM people", shows: [[6]])
    try await office.end(visits: 0)
  }

  @Test func `a full disk refuses a write as a whole, and takes it when it has room`() async throws {
    let office = try await Office()
    let long = String(repeating: "long ", count: 40_000)
    office.ana.fillDisk()
    await #expect(throws: (any Error).self) { try await office.add("big", on: office.ana, nickname: long) }
    try await office.world.expect(office.ana, "SELECT id FROM people", shows: [["luz"]])
    try await office.world.expectPending(office.ana, 0)
    office.ana.emptyDisk()
    try await office.add("big", on: office.ana, nickname: long)
    try await office.end(visits: 0)
  }

  @Test func `a server that is killed or loses power has all that it confirmed`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    try await office.ana.sync()
    try office.world.server.restart()
    try await office.expectVisits(1)
    try await office.visit(office.ben)
    try await office.ben.sync()
    try office.world.server.losePower()
    try await office.end(visits: 2)
  }

  @Test func `a device that was away for longer than deletions are kept refills`() async throws {
    let office = try await Office()
    office.ana.isOffline = true
    try office.world.server.execute("DELETE FROM people WHERE id = ?", ["luz"])
    try await office.ben.sync()
    try office.world.server.forgetDeletions()
    await office.world.clock.advance(by: .days(400))
    office.ana.isOffline = false
    try await office.world.settle()
    try await office.world.expect(office.ana, "SELECT id FROM people", shows: [])
    try await office.world.finish()
  }

  @Test func `an engine in the background works while the test lets time pass, and rests otherwise`() async throws {
    let office = try await Office()
    office.ana.start()
    await office.world.clock.advance(by: .seconds(1))
    try await office.visit(office.ana)
    try await office.world.expectPending(office.ana, 1)
    await office.world.clock.advance(by: .milliseconds(1))
    try await office.world.expectPending(office.ana, 0)
    try office.world.server.execute("UPDATE people SET last = 'Luz-Rey'")
    try await office.world.expect(office.ana, "SELECT last FROM people", shows: [["Luz"]])
    await office.world.clock.advance(by: .seconds(31))
    try await office.world.expect(office.ana, "SELECT last FROM people", shows: [["Luz-Rey"]])
    await #expect(throws: EngineBusy.self) { try await office.ana.sync() }
    try await office.world.settle()
    try await office.ana.stop()
    try await office.end(visits: 1)
  }

  @Test func `the app's own call of the engine ends too when its answer is lost`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.loseNextAnswer(of: office.ana, .push)
    #expect(try await office.ana.engine.syncOnce(within: .minutes(10)).failures == 1)
    #expect(try await office.ana.engine.syncOnce(within: .minutes(10)).settled == 1)
    try await office.end(visits: 1)
  }

  @Test func `two inserts under one key: one is refused, and the app is told`() async throws {
    let office = try await Office()
    try await office.add("same", on: office.ana)
    try await office.add("same", on: office.ben)
    try await office.ana.sync()
    try await office.world.settle()
    let refusal = try await office.world.expectRefusal(on: office.ben, code: .exists)
    try await office.ben.replica.acknowledge(refusal)
    try await office.end(visits: 0)
  }

  @Test func `rows of a team leave with the membership`() async throws {
    let office = try await Office()
    try office.world.server.execute("DELETE FROM members WHERE id = 'm2'")
    try await office.world.settle()
    try await office.world.expect(office.ben, "SELECT id FROM people", shows: [])
    try await office.world.expectAgreement()
    try await office.world.finish()
  }

  @Test func `whoever sleeps on the clock wakes when the test has moved it`() async throws {
    let clock = try await Office().world.clock
    let start = clock.elapsed
    let isAwake = Mutex(false)
    async let slept: Void = {
      try await clock.sleep(for: .hours(2))
      isAwake.withLock { $0 = true }
    }()
    // It may fall asleep at any moment of this loop, and wakes two hours of the world after that.
    while !isAwake.withLock({ $0 }) { await clock.advance(by: .minutes(30)) }
    try await slept
    #expect(clock.elapsed - start >= .hours(2))
  }
}
