// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryDiskKit
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// An app that dies while it adopts its rows, at each call on the disk, and adopts them again when it is started anew.
@Suite struct AdoptionDeathTests {
  private static let team = RowID<Crm.Team>("00000000-0000-7000-8000-00000000000a")
  private static let people = (1...5).map { number in
    var person = Crm.Person(team: team, name: "person \(number)")
    person.id = RowID("00000000-0000-7000-8000-00000000001\(number)")
    return person
  }

  private let disk = MemoryDisk(seed: 3, tracesContent: false)
  private let ambient = VirtualAmbient(seed: 7)

  private func open(_ machine: String, _ process: String) throws -> Replica {
    try Replica(
      path: MemoryDisk.path(process: process, machine: machine, file: "app.db"), account: "ana",
      catalog: try Catalog(Crm.schema), ambient: ambient,
      host: ReplicaHost(
        executor: SerialQueueExecutor(label: process), lanes: .caller, vfs: disk.vfsName))
  }

  private func adopt(_ replica: Replica, _ mode: AdoptionMode) async throws {
    try await replica.adopt([Crm.Team(id: Self.team, name: "Capitol")], as: mode)
    try await replica.adopt(Self.people, as: mode)
  }

  @Test(arguments: [AdoptionMode.unsent(batch: 2), .alreadyOnServer])
  func `wherever it dies, each row is adopted once, and what was written before it returned is there`(
    _ mode: AdoptionMode
  ) async throws {
    var deaths = 0
    for call in 1... {
      let (machine, first) = ("phone \(call)", "first \(call)")
      disk.plan(.death, for: first, atCall: call)
      do {
        try await adopt(try open(machine, first), mode)
      } catch {}
      if disk.faultMet(by: first) == nil { break }
      disk.kill(process: first)
      deaths += 1
      let replica = try open(machine, "second \(call)")
      try await adopt(replica, mode)
      let names = try await replica.read(Crm.Person.query("ORDER BY id")).map(\.name)
      #expect(names == Self.people.map(\.name), "death at call \(call)")
      let inserts = try await replica.read(.outbox).flatMap(\.operations).map(\.key)
      #expect(inserts.count == (mode == .alreadyOnServer ? 0 : 6), "death at call \(call)")
      #expect(Set(inserts).count == inserts.count, "death at call \(call)")
      #expect(try await replica.facts().unconfirmed == (mode == .alreadyOnServer ? 6 : 0), "death at call \(call)")
    }
    #expect(deaths > 60)
  }
}
