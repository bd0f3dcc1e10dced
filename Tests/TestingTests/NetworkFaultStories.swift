// SPDX-License-Identifier: Apache-2.0
import SkerryTesting
import Testing

/// A story for each thing that a world's network does to messages.
@Suite struct NetworkFaultStories {
  @Test func `a lost answer leaves the write pending, its effect on the server, and no second effect`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.loseNextAnswer(of: office.ana, .push)
    let before = office.world.clock.elapsed
    #expect(try await office.ana.sync().failures == 1)
    #expect(office.world.clock.elapsed - before == TestNetwork.patience)
    try await office.world.expectPending(office.ana, 1)
    try await office.expectVisits(1)
    try await office.end(visits: 1)
  }

  @Test func `a lost request has no effect until it is made again`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.loseNextRequest(of: office.ana)
    #expect(try await office.ana.sync().pushed == 0)
    try await office.expectVisits(0)
    try await office.end(visits: 1)
  }

  @Test func `a doubled request has one effect`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.doubleNextRequest(of: office.ana, .push)
    #expect(try await office.ana.sync().pushed == 1)
    try await office.end(visits: 1)
  }

  @Test func `a late answer is waited for, as long as the device has patience`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.delayNextAnswer(of: office.ana, by: .seconds(10), .push)
    let before = office.world.clock.elapsed
    let report = try await office.ana.sync()
    #expect(report.pushed == 1 && report.failures == 0)
    #expect(office.world.clock.elapsed - before == .seconds(10))
    try await office.visit(office.ana)
    office.world.network.delayNextAnswer(of: office.ana, by: .hours(1), .push)
    #expect(try await office.ana.sync().failures == 1)
    try await office.expectVisits(2)
    try await office.end(visits: 2)
  }

  @Test func `a request that arrives after it was made again has no second effect`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.delayNextRequest(of: office.ana, by: .hours(1), .push)
    #expect(try await office.ana.sync().failures == 1)
    try await office.expectVisits(0)
    try await office.ana.sync()
    try await office.expectVisits(1)
    await office.world.clock.advance(by: .hours(2))
    try await office.end(visits: 1)
  }

  @Test func `a request that is a little late arrives once`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.delayNextRequest(of: office.ana, by: .seconds(3))
    #expect(try await office.ana.sync().failures == 0)
    try await office.end(visits: 1)
  }

  @Test func `half an answer is no answer`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.cutNextAnswer(of: office.ana, .push)
    #expect(try await office.ana.sync().undecodable == 1)
    try await office.world.expectPending(office.ana, 1)
    try await office.end(visits: 1)
  }

  @Test func `a server that asks for a wait is left alone until it has passed`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.answerNext(of: office.ana, withStatus: 503, retryAfter: .minutes(10))
    #expect(try await office.ana.sync().failures == 1)
    #expect(await office.ana.engine.condition() == .failing(status: 503))
    let early = try await office.ana.sync()
    #expect(early.pushed == 0 && early.failures == 0)
    try await office.expectVisits(0)
    await office.world.clock.advance(by: .minutes(12))
    #expect(try await office.ana.sync().pushed == 1)
    try await office.end(visits: 1)
  }

  @Test func `a captive portal keeps everything until it is left`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.captivePortal(for: office.ana)
    for _ in 0..<3 { #expect(try await office.ana.sync().pushed == 0) }
    try await office.world.expectPending(office.ana, 1)
    office.world.network.leaveCaptivePortal(for: office.ana)
    try await office.end(visits: 1)
  }

  @Test func `an expired token keeps everything until there is a new one`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.expireToken(of: office.ana)
    try await office.ana.sync()
    #expect(await office.ana.engine.condition() == .needsAuthentication)
    try await office.world.expectPending(office.ana, 1)
    await office.world.network.renewToken(of: office.ana)
    #expect(try await office.ana.sync().pushed == 1)
    try await office.end(visits: 1)
  }

  @Test func `a device without a network works, and others go on`() async throws {
    let office = try await Office()
    office.ana.isOffline = true
    try await office.visit(office.ana)
    try await office.visit(office.ben)
    try await office.world.settle()
    #expect(try await office.ana.sync().failures == 1)
    try await office.world.expect(office.ana, "SELECT visits FROM people", shows: [[1]])
    try await office.expectVisits(1)
    office.ana.isOffline = false
    try await office.end(visits: 2)
  }

  @Test func `faults of one device wait in their order, each for its own kind of message`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.answerNext(of: office.ana, withStatus: 500, .pull)
    office.world.network.answerNext(of: office.ana, withStatus: 502, .push)
    office.world.network.answerNext(of: office.ana, withStatus: 504)
    try await office.ana.sync()
    #expect(await office.ana.engine.condition() == .failing(status: 502))
    try await office.ben.sync()
    #expect(await office.ben.engine.condition() == .idle)
    try await office.world.settle()
    try await office.end(visits: 1)
  }
}
