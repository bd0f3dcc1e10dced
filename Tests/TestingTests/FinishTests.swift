// SPDX-License-Identifier: Apache-2.0
import SkerryTesting
import Testing

/// What the end of a test objects to.
@Suite struct FinishTests {
  private func objections(_ world: TestWorld) async throws -> [String] {
    let failure = try #require(await #expect(throws: TestFailure.self) { try await world.finish() })
    let lines = failure.reason.split(separator: "\n").map(String.init)
    #expect(lines.first == "the test cannot end like this:")
    return lines.filter { $0.hasPrefix("  - ") }.map { String($0.dropFirst(4)) }
  }

  @Test func `a world at rest may end`() async throws { try await Office().world.finish() }

  @Test func `a pending write is objected to`() async throws {
    let office = try await Office()
    try await office.add("new", on: office.ana)
    let found = try await objections(office.world)
    #expect(found.first == "ana's phone: 1 pending; call settle(), or discard what is not to go")
    #expect(found.last?.hasPrefix("ana's phone differs from the server: people/new") == true)
  }

  @Test func `a refusal that nobody has acknowledged is objected to`() async throws {
    let office = try await Office()
    try await office.visit(office.ben)
    try office.world.server.execute("DELETE FROM people")
    try await office.world.settle()
    #expect(try await objections(office.world) == ["ben's phone: a refusal that nobody has acknowledged: gone"])
    for refusal in try await office.ben.replica.read(.rejections) { try await office.ben.replica.acknowledge(refusal) }
    try await office.world.finish()
  }

  @Test func `each fault that never happened is objected to`() async throws {
    let office = try await Office()
    let network = office.world.network
    network.loseNextRequest(of: office.ana)
    network.loseNextAnswer(of: office.ana)
    network.doubleNextRequest(of: office.ana)
    network.delayNextRequest(of: office.ana, by: .seconds(1))
    network.delayNextAnswer(of: office.ana, by: .seconds(1))
    network.cutNextAnswer(of: office.ana, .push)
    network.answerNext(of: office.ana, withStatus: 500)
    network.captivePortal(for: office.ben)
    network.leaveCaptivePortal(for: office.ben)
    network.expireToken(of: office.ben)
    let names = [
      "loseNextRequest of ana's phone", "loseNextAnswer of ana's phone", "doubleNextRequest of ana's phone",
      "delayNextRequest of ana's phone", "delayNextAnswer of ana's phone", "cutNextAnswer of ana's phone",
      "answerNext(withStatus: 500) of ana's phone", "captivePortal of ben's phone", "expireToken of ben's phone",
    ]
    #expect(try await objections(office.world) == names.map { "\($0) never happened" })
  }

  @Test func `an engine that is still at work is objected to`() async throws {
    let office = try await Office()
    office.ana.start()
    let ben = office.ben.engine
    let before = await ben.report().rounds
    let own = Task { try await ben.run() }
    while await ben.report().rounds == before { await Task.yield() }
    let advice = "an engine is at work; call stop(), or end the app's own call"
    #expect(try await objections(office.world) == ["ana's phone: \(advice)", "ben's phone: \(advice)"])
    own.cancel()
    try await own.value
    try await office.ana.stop()
    try await office.world.finish()
  }

  @Test func `a late request that has not arrived, and whoever sleeps on the clock, are objected to`() async throws {
    let office = try await Office()
    office.world.network.delayNextRequest(of: office.ana, by: .hours(1))
    try await office.ana.sync()
    let request = "a request of ana's phone is still on its way; let more time pass"
    #expect(try await objections(office.world) == [request])
    let clock = office.world.clock
    let sleeper = Task { try await clock.sleep(for: .hours(3)) }
    while try await objections(office.world).count < 2 { await Task.yield() }
    #expect(try await objections(office.world) == [request, "somebody still sleeps on the world's clock"])
    await clock.advance(by: .hours(4))
    try await sleeper.value
    try await office.world.finish()
  }

  @Test func `an app that is not running is objected to`() async throws {
    let office = try await Office()
    await office.ana.kill()
    #expect(try await objections(office.world) == ["ana's phone: the app is not running; call restart()"])
  }
}
