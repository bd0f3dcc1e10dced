// SPDX-License-Identifier: Apache-2.0
import SkerryTesting
import Testing

/// What the app declares: people of a team, and how often they were visited.
struct Team: Record {
  var id = RowID<Team>()
  var name: String
  static let table = TableSchema<Team>("teams") { Column("name", \.name) }.space("team", by: \.id)
}

struct Member: Record {
  var team: RowID<Team>
  var user: String
  static let table = TableSchema<Member>("members", key: ["team", "user"]) {
    Column("team", \.team)
    Column("user", \.user)
  }.space("team", by: \.team)
}

struct Person: Record {
  var id = RowID<Person>()
  var team: RowID<Team>
  var name: String
  var visits = 0
  static let table = TableSchema<Person>("people") {
    Column("team", \.team)
    Column("name", \.name)
    Column("visits", \.visits, .counter)
  }.space("team", by: \.team)
}

extension Schema {
  static let visits = Schema("visits", version: 1) {
    Space("team", root: Team.table, members: Member.table, space: \.team, user: \.user)
    Feature("visits", .replica) {
      Team.table
      Member.table
      Person.table
    }
  }
}

/// What the app does: it logs visits to people of a team.
struct VisitLog {
  let replica: Replica
  let team: RowID<Team>

  func add(_ name: String) async throws -> RowID<Person> {
    let person = Person(team: team, name: name)
    try await replica.write("add a person") { try $0.insert(person) }
    return person.id
  }

  func visit(_ id: RowID<Person>) async throws {
    try await replica.write("log a visit") { try $0.increment(\Person.visits, of: id) }
  }
}

struct VisitTests {
  private let world: TestWorld
  private let ana: TestDevice
  private let ben: TestDevice
  private let team = RowID<Team>()

  /// A team of two, each with a phone that has synced once.
  init() async throws {
    world = try TestWorld(.visits)
    ana = try world.device("ana's phone", account: "ana")
    ben = try world.device("ben's phone", account: "ben")
    try await ana.replica.write("open team") { [team] tx in
      try tx.insert(Team(id: team, name: "Capitol"))
      try tx.insert(contentsOf: [Member(team: team, user: "ana"), Member(team: team, user: "ben")])
    }
    try await world.settle()
  }

  private func log(_ phone: TestDevice) -> VisitLog { VisitLog(replica: phone.replica, team: team) }

  @Test func `a visit whose answer is lost counts once`() async throws {
    let luz = try await log(ana).add("Luz")
    try await log(ana).visit(luz)
    world.network.loseNextAnswer(of: ana, .push)
    #expect(try await ana.sync().failures == 1)
    try await world.expectPending(ana, 2)

    try await world.settle()
    try await world.expect(ben, "SELECT name, visits FROM people", shows: [["Luz", 1]])
    try await world.finish()
  }

  @Test func `visits of two phones without a network add up`() async throws {
    let luz = try await log(ana).add("Luz")
    try await world.settle()
    for phone in [ana, ben] {
      phone.isOffline = true
      try await log(phone).visit(luz)
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
    let luz = try await log(ana).add("Luz")
    try await world.settle()
    try world.server.execute("DELETE FROM people WHERE id = ?", [.text(luz.text)])
    try await log(ana).visit(luz)
    try await world.settle()

    let refusal = try await world.expectRefusal(on: ana, code: .gone)
    #expect(refusal.label == "log a visit")
    try await ana.replica.acknowledge(refusal)
    try await world.finish()
  }

  @Test func `what was written is there after the battery died, and leaves when the engine has time`() async throws {
    _ = try await log(ana).add("Luz")
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
