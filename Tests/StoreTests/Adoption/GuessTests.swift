// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// `adopt` with rows that are said to be on the server already.
@Suite struct GuessTests {
  @Test func `they are shown at once as not confirmed, nothing of them is sent, and nothing says that it is in step`()
    async throws
  {
    let new = try Newcomer()
    try await new.adoptTeam()
    #expect(try await new.ana.replica.adopt(Newcomer.people(1...2), as: .alreadyOnServer).added == 2)
    #expect(try await new.shown() == ["person 1 unconfirmed", "person 2 unconfirmed"])
    let tracked = try await new.ana.replica.read(Crm.Person.tracked())
    #expect(tracked.allSatisfy { $0.confirmedAt == nil })
    let facts = try await new.ana.replica.facts()
    #expect(facts.pending == 0)
    #expect(facts.unconfirmed == 5)
    #expect(facts.syncedAt == nil)
    #expect(try await new.ana.replica.digests().isEmpty)
    let story = try await new.ana.replica.explain(Newcomer.id(1))
    #expect(story.isUnconfirmed)
    #expect(story.confirmed == nil)
    #expect(story.visible?["name"] == "person 1")
    #expect(story.conclusion == "shown as the app brought it along: no sync has told yet whether the server has it")
  }

  @Test func `the first sync confirms what is right, replaces what is wrong, and takes away what is not there`()
    async throws
  {
    let new = try Newcomer()
    try new.putOnServer([Newcomer.person(1), Newcomer.person(2, "newer"), Newcomer.person(9)])
    try await new.adoptTeam()
    try await new.ana.replica.adopt(Newcomer.people(1...3), as: .alreadyOnServer)
    let report = try await new.ana.sync()
    #expect(report.pushed == 0)
    #expect(try await new.shown() == ["person 1 confirmed", "newer confirmed", "person 9 confirmed"])
    #expect(try await new.ana.replica.facts().unconfirmed == 0)
    #expect(try await new.ana.replica.facts().digestMismatches == 0)
    let last = try #require(try await new.ana.replica.read(.decisions).last)
    #expect(last.kind == .guessesEnded)
    #expect(last.count == 1)
    try await new.world.settle()
    try await new.world.finish()
  }

  @Test func `edits before the first sync are held back, and then meet the server's rows as ordinary ones`()
    async throws
  {
    let new = try Newcomer()
    try new.putOnServer([Newcomer.person(1), Newcomer.person(2, "newer"), Newcomer.person(3)])
    try await new.adoptTeam()
    try await new.ana.replica.adopt(Newcomer.people(1...3), as: .alreadyOnServer)
    try await new.ana.replica.write { tx in
      try tx.update(Newcomer.id(1)) { $0.phone = "555-1" }
      try tx.increment(\.visits, of: Newcomer.id(1), by: 2)
    }
    try await new.ana.replica.write { try $0.update(Newcomer.id(2)) { $0.phone = "555-2" } }
    try await new.ana.replica.write { try $0.delete(Newcomer.id(3)) }
    try await new.ana.replica.write { try $0.insert(Newcomer.person(4)) }
    #expect(try await new.shown() == ["person 1 waiting", "person 2 waiting", "person 4 waiting"])
    try await new.ana.restart()
    let report = try await new.ana.sync()
    #expect(report.pushed == 4)
    try await new.world.settle()
    #expect(try await new.shown() == ["person 1 confirmed", "newer confirmed", "person 4 confirmed"])
    try await new.world.expectServer(
      "SELECT name, phone, visits FROM people ORDER BY id",
      shows: [["person 1", "555-1", 2], ["newer", "555-2", 0], ["person 4", .null, 0]])
    #expect(try await new.ana.replica.read(.rejections).isEmpty)
    try await new.world.finish()
  }

  @Test func `an edit of a row that the server does not have is refused, with the user's values`() async throws {
    let new = try Newcomer()
    try await new.adoptTeam()
    try await new.ana.replica.adopt([Newcomer.person(1)], as: .alreadyOnServer)
    try await new.ana.replica.write { try $0.update(Newcomer.id(1)) { $0.phone = "555-1" } }
    try await new.ana.sync()
    try await new.world.settle()
    #expect(try await new.shown().isEmpty)
    let refusal = try #require(try await new.ana.replica.read(.rejections).first)
    #expect(refusal.code == .gone)
    #expect(refusal.operations.first?.key == RowKey("people", .text(Newcomer.id(1).text)))
    try await new.ana.replica.acknowledge(refusal)
    try await new.world.finish()
  }

  @Test func `an edit that is discarded leaves the guess, which is then confirmed as any`() async throws {
    let new = try Newcomer()
    try new.putOnServer([Newcomer.person(1)])
    try await new.adoptTeam()
    try await new.ana.replica.adopt([Newcomer.person(1)], as: .alreadyOnServer)
    try await new.ana.replica.write { try $0.update(Newcomer.id(1)) { $0.phone = "555-1" } }
    let entry = try #require(try await new.ana.replica.read(.outbox).first)
    try await new.ana.replica.discard(entry)
    #expect(try await new.ana.replica.first(Crm.Person.query(id: Newcomer.id(1)))?.phone == nil)
    #expect(try await new.ana.replica.facts().unconfirmed == 4)
    try await new.world.settle()
    #expect(try await new.shown() == ["person 1 confirmed"])
    try await new.world.finish()
  }

  @Test func `where versions are checked, an edit has seen the row if the guess was right, and else it is in conflict`()
    async throws
  {
    let new = try Newcomer()
    try new.putOnServer([Newcomer.person(1)])
    let ids = ["00000000-0000-7000-8000-0000000000c1", "00000000-0000-7000-8000-0000000000c2"]
    for (id, state) in zip(ids, ["draft", "sent"]) {
      try new.world.server.execute(
        "INSERT INTO quotes(id, person, state) VALUES ('\(id)', '\(Newcomer.id(1).text)', '\(state)')")
    }
    try await new.adoptTeam()
    try await new.ana.replica.adopt([Newcomer.person(1)], as: .alreadyOnServer)
    let quotes = ids.map { id in
      var quote = Crm.Quote(person: Newcomer.id(1))
      quote.id = RowID(id)
      return quote
    }
    try await new.ana.replica.adopt(quotes, as: .alreadyOnServer)
    for quote in quotes { try await new.ana.replica.write { try $0.update(quote.id) { $0.state = "won" } } }
    try await new.world.settle()
    try await new.world.expectServer("SELECT state FROM quotes ORDER BY id", shows: [["won"], ["sent"]])
    let refusals = try await new.ana.replica.read(.rejections)
    #expect(refusals.map(\.outcome) == [.conflicted])
    for refusal in refusals { try await new.ana.replica.acknowledge(refusal) }
    try await new.world.finish()
  }

  @Test func `a first sync that is published page by page keeps what has not come yet, until it is whole`() async throws
  {
    let new = try Newcomer(policy: TimingPolicy(page: 4))
    try new.putOnServer(Newcomer.people(1...20))
    await new.ana.replica.setLongCatchUp(3)
    try await new.adoptTeam()
    try await new.ana.replica.adopt(Newcomer.people(1...21), as: .alreadyOnServer)
    for number in [1, 20] {
      try await new.ana.replica.write { try $0.update(Newcomer.id(number)) { $0.name = "edited \(number)" } }
    }
    new.world.network.loseNextAnswer(of: new.ana, .pull)
    for _ in 0..<30 where try await new.ana.replica.facts().syncedAt == nil {
      _ = try await new.ana.sync()
      let count = try await new.shown().count
      #expect(try await new.ana.replica.facts().syncedAt != nil ? count == 20 : count == 21)
    }
    try await new.world.settle()
    #expect(try await new.shown().count == 20)
    #expect(try await new.onServer().first == "edited 1")
    #expect(try await new.onServer().last == "edited 20")
    try await new.world.finish()
  }

  @Test func `once the device has been in step, rows that it does not have are known not to be on the server`()
    async throws
  {
    let new = try Newcomer()
    try new.putOnServer([Newcomer.person(1)])
    try await new.world.settle()
    let result = try await new.ana.replica.adopt(
      [Newcomer.person(1), Newcomer.person(2)], as: .alreadyOnServer)
    #expect(result.unchanged == 1)
    #expect(result.late == 1)
    #expect(try await new.shown() == ["person 1 confirmed"])
    try await new.world.finish()
  }

  @Test func `they outlive an update of the schema that renames their table`() throws {
    let versions = try UpgradeDesk(.library)
    let old = try versions.start("a", .library)
    let book = try #require(old.catalog.table("book"))
    let row = Operation(RowKey("book", "dune"), nil, .insert([Field("owner", "ana"), Field("title", "Dune")]))
    let guess = try old.catalog.normalised(row)
    #expect(try old.adopt([guess], of: book, from: 1, as: .alreadyOnServer, name: "books").added == 1)
    _ = try old.write { try $0.update(RowKey("book", "dune"), ["pages": 412]) }
    let next = Schema.libraryWithVolumes
    let new = try versions.start("a", next)
    #expect(try new.unconfirmedCount() == 1)
    try versions.startServer(next)
    try versions.execute("INSERT INTO volume(id, owner, title) VALUES ('dune', 'ana', 'Dune')")
    try versions.sync("a")
    #expect(try new.unconfirmedCount() == 0)
    #expect(try versions.rows("SELECT id, title, pages FROM volume") == ["dune Dune 412"])
    #expect(versions.mismatches() == 0)
    #expect(try new.rejections().isEmpty)
  }

  @Test func `a first sync that begins anew in another history keeps them until it is whole`() throws {
    let desk = try Desk()
    let book = try #require(desk.world.catalog.table("book"))
    for number in 0..<8 { try desk.world.foreign.execute("INSERT INTO book(id, owner) VALUES ('b\(number)', 'ana')") }
    let rows = try (0..<9).map { number in
      try desk.world.catalog.normalised(
        Operation(RowKey("book", .text("b\(number)")), nil, .insert([Field("owner", "ana")])))
    }
    #expect(try desk.store.adopt(rows, of: book, from: 1, as: .alreadyOnServer, name: "books").added == 9)
    // The reset, and a page that is kept aside.
    desk.device.session.note(.syncRequested)
    for _ in 0..<2 {
      guard case .exchange(let exchange) = try desk.device.session.next() else { break }
      try desk.device.session.take(.success(desk.world.serve(exchange.request, as: "ana")), for: exchange)
    }
    #expect(desk.store.syncedAt == nil)
    try desk.world.server.beginEpoch("another")
    for _ in 0..<2 {
      guard case .exchange(let exchange) = try desk.device.session.next() else { break }
      try desk.device.session.take(.success(desk.world.serve(exchange.request, as: "ana")), for: exchange)
      #expect(try desk.query("SELECT count(*) FROM book") == ["9"])
    }
    try desk.sync()
    #expect(try desk.query("SELECT count(*) FROM book") == ["8"])
    #expect(try desk.store.unconfirmedCount() == 0)
    #expect(desk.store.digestMismatches == 0)
  }

  @Test func `a row that another program deletes while the first sync goes on is gone`() async throws {
    let new = try Newcomer(policy: TimingPolicy(page: 2))
    try new.putOnServer(Newcomer.people(1...6))
    try await new.adoptTeam()
    try await new.ana.replica.adopt(Newcomer.people(1...6), as: .alreadyOnServer)
    new.world.network.loseNextAnswer(of: new.ana, .pull)
    _ = try await new.ana.sync()
    try new.world.server.execute("DELETE FROM people WHERE id = '\(Newcomer.id(5).text)'")
    try await new.world.settle()
    #expect(try await new.shown().count == 5)
    try await new.world.finish()
  }
}

extension Schema {
  /// The library one version later, in which books are called volumes.
  fileprivate static var libraryWithVolumes: Schema {
    var schema = nextLibrary
    for feature in schema.features.indices {
      for index in schema.features[feature].tables.indices {
        var table = schema.features[feature].tables[index]
        if table.name == "book" { (table.name, table.formerNames) = ("volume", ["book"]) }
        table.spaces = table.spaces.map { rule in
          if case .parent(let column, "book") = rule { .parent(column: column, table: "volume") } else { rule }
        }
        schema.features[feature].tables[index] = table
      }
    }
    return schema
  }
}
