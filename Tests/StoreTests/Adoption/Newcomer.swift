// SPDX-License-Identifier: Apache-2.0
import Foundation
import Skerry
import SkerryTestSupport
import SkerryTesting

/// A team with people on the server, and a phone of Ana's with an app that had data before Skerry and has never synced.
struct Newcomer {
  let world: TestWorld
  let ana: TestDevice
  static let team = RowID<Crm.Team>("00000000-0000-7000-8000-00000000000a")

  init(policy: TimingPolicy = .standard) throws {
    world = try TestWorld(Crm.schema, policy: policy)
    try world.server.execute(
      """
      INSERT INTO teams(id, name) VALUES ('\(Newcomer.team.text)', 'Capitol');
      INSERT INTO members(team, user) VALUES ('\(Newcomer.team.text)', 'ana'), ('\(Newcomer.team.text)', 'ben');
      """)
    ana = try world.device("ana's phone", account: "ana")
  }

  static func id(_ number: Int) -> RowID<Crm.Person> {
    RowID("00000000-0000-7000-8000-" + String(format: "%012d", number))
  }

  static func person(_ number: Int, _ name: String? = nil) -> Crm.Person {
    var person = Crm.Person(team: team, name: name ?? "person \(number)")
    person.id = id(number)
    return person
  }

  static func people(_ numbers: ClosedRange<Int>) -> [Crm.Person] { numbers.map { person($0) } }

  /// What the app has of the team and its members.
  func adoptTeam(on device: TestDevice? = nil, as mode: AdoptionMode = .alreadyOnServer) async throws {
    let replica = (device ?? ana).replica
    try await replica.adopt([Crm.Team(id: Newcomer.team, name: "Capitol")], as: mode)
    try await replica.adopt(["ana", "ben"].map { Crm.Member(team: Newcomer.team, user: $0) }, as: mode)
  }

  /// People on the server, by another program.
  func putOnServer(_ people: [Crm.Person]) throws {
    for person in people {
      try world.server.execute(
        """
        INSERT INTO people(id, team, name, is_active)
        VALUES ('\(person.id.text)', '\(person.team.text)', '\(person.name)', 1)
        """)
    }
  }

  /// Names and states of the people on a device.
  func shown(on device: TestDevice? = nil) async throws -> [String] {
    try await (device ?? ana).replica.read(Crm.Person.tracked("ORDER BY id")).map { "\($0.record.name) \($0.state)" }
  }

  func onServer() async throws -> [String] {
    try world.server.query("SELECT name FROM people ORDER BY id").map { $0[0].text ?? "" }
  }
}
