// SPDX-License-Identifier: Apache-2.0
import Foundation
import Skerry
import SkerryTestSupport
import SkerryTesting

/// A world of the records' schema: a team of two, each with a phone that has synced once.
struct CrmDesk {
  let world: TestWorld
  let ana: TestDevice
  let ben: TestDevice
  let team = RowID<Crm.Team>("00000000-0000-7000-8000-00000000000a")

  init() async throws {
    world = try TestWorld(Crm.schema)
    ana = try world.device("ana's phone", account: "ana")
    ben = try world.device("ben's phone", account: "ben")
    let team = team
    try await ana.replica.write("open team") { tx in
      try tx.insert(Crm.Team(id: team, name: "Capitol"))
      try tx.insert(contentsOf: [
        Crm.Member(team: team, user: "ana", role: .owner), Crm.Member(team: team, user: "ben"),
      ])
    }
    try await world.settle()
  }

  /// A person of the team, written on ana's phone.
  func person(_ name: String, _ edit: @Sendable (inout Crm.Person) -> Void = { _ in }) async throws -> RowID<Crm.Person>
  {
    var person = Crm.Person(team: team, name: name)
    edit(&person)
    let made = person
    try await ana.replica.write("add \(name)") { try $0.insert(made) }
    return made.id
  }

  /// What waits on ana's phone, an operation a line.
  func waiting() async throws -> [String] {
    try await ana.replica.read(.outbox).flatMap(\.operations).map { operation in
      switch operation.action {
      case .insert(let fields): "insert \(operation.key.table) \(fields.map(\.column).joined(separator: " "))"
      case .set(let fields, _): "set \(operation.key.table) \(fields.map(\.column).joined(separator: " "))"
      case .increment(let column, let amount): "increment \(operation.key.table) \(column) \(amount)"
      case .delete: "delete \(operation.key.table)"
      }
    }
  }
}
