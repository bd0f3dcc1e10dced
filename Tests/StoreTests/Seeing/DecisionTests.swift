// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// What was decided last, and why a row shows what it shows.
@Suite struct DecisionTests {
  private func decisions(_ store: Store) throws -> [PastDecision] { try store.read(.decisions) }

  @Test func `what the server decided is noted with the mutation, the code and the rule`() throws {
    let desk = try Desk()
    let first = try desk.insert("dune")
    try desk.sync()
    let second = try desk.write { try $0.increment(Desk.dune, "copies") }
    try desk.world.foreign.execute("INSERT INTO book(id, owner) VALUES ('emma', 'ana')")
    let third = try desk.insert("emma")
    try desk.sync()
    let decisions = try decisions(desk.store).filter { $0.mutation != nil }
    #expect(decisions.map(\.mutation) == [first, second, third])
    #expect(decisions.map(\.kind) == [.confirmed, .confirmed, .rejected])
    #expect(decisions.map(\.code) == [nil, nil, .exists])
    #expect(decisions.map(\.rule) == ["insert", "counter", "insert"])
    #expect(decisions.allSatisfy { $0.position != nil && $0.at > 0 })
    #expect(try self.decisions(desk.store).first?.kind == .reset)
    #expect(try self.decisions(desk.store).first?.rule == "first")
  }

  @Test func `what is decided here is noted too`() throws {
    let desk = try Desk()
    let id = try desk.insert("dune")
    try desk.store.setAside(id)
    try desk.store.discard(id)
    #expect(try decisions(desk.store).map(\.kind) == [.setAside, .discarded])
    #expect(try decisions(desk.store).map(\.mutation) == [id, id])
  }

  @Test func `the newest are kept, however many come at once`() throws {
    let desk = try Desk()
    for number in 0..<20 { try desk.insert("b\(number)") }
    try desk.sync()
    #expect(try decisions(desk.store).count == 21)
    for number in 20..<320 { try desk.insert("b\(number)") }
    let ids = try desk.store.outbox().map(\.id)
    try desk.sync()
    #expect(try desk.store.outboxCount() == 0)
    let kept = try decisions(desk.store)
    #expect(kept.count == PastDecision.limit)
    #expect(Set(kept.compactMap(\.mutation)).isSubset(of: ids))
    #expect(kept.allSatisfy { $0.mutation != nil })
  }

  @Test func `noting them takes no transaction of its own`() throws {
    let desk = try Desk()
    try desk.sync()
    try desk.insert("dune")
    var commits = 0
    try desk.store.withConnection { connection in
      connection.monitor = { if $0.hasPrefix("COMMIT") { commits += 1 } }
    }
    try desk.sync()
    try desk.store.withConnection { $0.monitor = nil }
    #expect(try decisions(desk.store).last?.kind == .confirmed)
    // The offer, and the page with the receipt.
    #expect(commits == 2)
  }

  @Test func `a file that is older than they are gets their table when it is opened, and can be looked into before`()
    throws
  {
    let pad = try UpgradeDesk(.library)
    let store = try pad.start("a", .library)
    try store.withConnection { connection in
      for table in ["skerry_decisions", "skerry_guesses", "skerry_adopted"] {
        try connection.execute("DROP TABLE \(table)")
      }
      let report = try Store.inspect(connection)
      #expect(report.decisions.isEmpty)
      #expect(report.tables.allSatisfy { $0.unconfirmed == 0 })
      _ = try Store.explain(Desk.dune, catalog: try Catalog(.library), on: connection)
    }
    for schema in [Schema.library, .nextLibrary] {
      let store = try pad.start("a", schema)
      _ = try store.write { try $0.insert("book", ["id": .text("b\(schema.version)"), "owner": "ana"]) }
      try pad.startServer(schema)
      try pad.sync("a")
      #expect(try decisions(store).last?.kind == .confirmed)
      if schema == .library {
        try store.withConnection { connection in
          for table in ["skerry_decisions", "skerry_guesses", "skerry_adopted"] {
            try connection.execute("DROP TABLE \(table)")
          }
        }
      }
    }
  }

  @Test func `a row's story has the base, what waits, the last decision and how fresh it is`() async throws {
    let desk = try await CrmDesk()
    let luz = try await desk.person("Luz")
    try await desk.world.settle()
    try await desk.ana.replica.write("call") { try $0.update(luz) { $0.phone = "555-secret" } }
    let story = try await desk.ana.replica.explain(luz)
    #expect(story.confirmed?["phone"] == .null)
    #expect(story.visible?["phone"] == "555-secret")
    #expect(story.differingColumns == ["phone"])
    #expect(story.pending.count == 1)
    #expect(story.decisions.map(\.kind) == [.confirmed])
    #expect(story.spaces == [SpaceID(kind: "team", id: desk.team.text)])
    #expect(story.syncedAt != nil)
    #expect(story.conclusion == "shown with 1 pending change that the server has not judged yet")
    #expect(story.description.hasSuffix(story.conclusion))
    #expect(story.description.contains("last decision: "))
    #expect(!story.description.contains("555-secret"))
    #expect(story.text(showingValues: true).contains("555-secret"))
    let member = try await desk.ana.replica.explain(Crm.Member.self, key: desk.team, "ben")
    #expect(member.visible?["role"] == "guest")
    let nobody = try await desk.ana.replica.explain(RowID<Crm.Person>())
    #expect(nobody.visible == nil)
    #expect(nobody.conclusion.hasPrefix("not here: "))
    await #expect(throws: StoreError.self) { try await desk.ana.replica.explain(Crm.Search.self, key: "x") }
  }
}
