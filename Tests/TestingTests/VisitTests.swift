// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryTesting
import Testing

/// What the app does: it logs visits to people of a team.
struct VisitLog {
  let replica: Replica

  func add(_ id: String, first: String, last: String, team: String) async throws {
    try await replica.write("add a person") { tx in
      try tx.insert("people", ["id": .text(id), "team": .text(team), "first": .text(first), "last": .text(last)])
    }
  }

  func visit(_ id: String) async throws {
    try await replica.write("log a visit") { try $0.increment(RowKey("people", .text(id)), "visits") }
  }
}

struct VisitTests {
  private let world: TestWorld
  private let ana: TestDevice
  private let ben: TestDevice

  /// A team of two, each with a phone that has synced once.
  init() async throws {
    let file = URL(fileURLWithPath: #filePath + "/../../../Examples/Contacts/schema.json").standardized
    world = try TestWorld(try JSONDecoder().decode(Schema.self, from: Data(contentsOf: file)))
    try world.server.execute("INSERT INTO teams(id, name) VALUES ('t', 'Capitol')")
    try world.server.execute("INSERT INTO members(id, team, user) VALUES ('m1', 't', 'ana'), ('m2', 't', 'ben')")
    ana = try world.device("ana's phone", account: "ana")
    ben = try world.device("ben's phone", account: "ben")
    try await world.settle()
  }

  @Test func `a visit whose answer is lost counts once`() async throws {
    let log = VisitLog(replica: ana.replica)
    try await log.add("p", first: "Ana", last: "Luz", team: "t")
    try await log.visit("p")
    world.network.loseNextAnswer(of: ana, .push)
    #expect(try await ana.sync().failures == 1)
    try await world.expectPending(ana, 2)

    try await world.settle()
    try await world.expect(ben, "SELECT last, visits FROM people", shows: [["Luz", 1]])
    try await world.finish()
  }

  @Test func `visits of two phones without a network add up`() async throws {
    try await VisitLog(replica: ana.replica).add("p", first: "Ana", last: "Luz", team: "t")
    try await world.settle()
    for phone in [ana, ben] {
      phone.isOffline = true
      try await VisitLog(replica: phone.replica).visit("p")
      try await phone.sync()
    }
    await world.clock.advance(by: .days(3))
    try await world.expect(ana, "SELECT visits FROM people", shows: [[1]])

    for phone in [ana, ben] { phone.isOffline = false }
    try await world.settle()
    try await world.expect(ana, "SELECT visits FROM people", shows: [[2]])
    try await world.finish()
  }

  @Test func `a person that somebody else removed takes the visit along, and the app is told`() async throws {
    try await VisitLog(replica: ana.replica).add("p", first: "Ana", last: "Luz", team: "t")
    try await world.settle()
    try world.server.execute("DELETE FROM people WHERE id = 'p'")
    try await VisitLog(replica: ana.replica).visit("p")
    try await world.settle()

    let refusal = try await world.expectRefusal(on: ana, code: .gone)
    #expect(refusal.label == "log a visit")
    try await ana.replica.acknowledge(refusal)
    try await world.finish()
  }

  @Test func `what was written is there after the battery died, and leaves when the engine has time`() async throws {
    try await VisitLog(replica: ana.replica).add("p", first: "Ana", last: "Luz", team: "t")
    await ana.losePower()
    try await ana.restart()
    try await world.expectPending(ana, 1)

    ana.start()
    await world.clock.advance(by: .seconds(1))
    try await world.expectPending(ana, 0)
    try await ana.stop()
    try await world.settle()
    try await world.finish()
  }
}
