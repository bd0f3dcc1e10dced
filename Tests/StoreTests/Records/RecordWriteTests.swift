// SPDX-License-Identifier: Apache-2.0
import Foundation
import Skerry
import SkerryTestSupport
import SkerryTesting
import Testing

@Suite("Writing records") struct RecordWriteTests {
  private let desk: CrmDesk
  private var replica: Replica { desk.ana.replica }

  init() async throws { desk = try await CrmDesk() }

  private func full() -> Crm.Person {
    var person = Crm.Person(team: desk.team, name: "Lu\u{301}z")
    person.email = "luz@example.org"
    person.address = Crm.Address(street: "Main \"1\"", city: nil)
    person.born = CalendarDate("1990-02-28")
    person.seen = Date(timeIntervalSince1970: 1_700_000_000.25)
    person.salary = Decimal(string: "1234.5")
    person.photo = Data([0, 1, 255])
    person.score = -0.25
    person.isActive = false
    person.visits = 3
    return person
  }

  @Test func `a record with a value of each type is the same on both phones`() async throws {
    let person = full()
    try await replica.write { try $0.insert(person) }
    #expect(try await replica.first(Crm.Person.query(id: person.id)) == person)
    try await desk.world.settle()
    #expect(try await desk.ben.replica.read(Crm.Person.all) == [person])
    try await desk.world.finish()
  }

  @Test func `an insert carries what the columns do not have anyway`() async throws {
    _ = try await desk.person("Luz")
    #expect(try await desk.waiting() == ["insert people is_active name team"])
    try await desk.world.settle()
    try await desk.world.finish()
  }

  @Test func `an update carries the changed fields alone, and a counter's difference`() async throws {
    let id = try await desk.person("Luz")
    try await desk.world.settle()
    let change = try await replica.write("edit") { tx in
      try tx.update(id) { person in
        person.phone = "555-0101"
        person.name = "Luz"
        person.isActive = false
        person.visits += 2
      }
    }
    #expect(change != nil)
    #expect(try await desk.waiting() == ["increment people visits 2", "set people is_active phone"])
    try await desk.ben.replica.write { try $0.increment(\Crm.Person.visits, of: id, by: 3) }
    try await desk.world.settle()
    let person = try #require(try await desk.ben.replica.first(Crm.Person.query(id: id)))
    #expect(person.visits == 5)
    #expect(person.phone == "555-0101")
    try await desk.world.finish()
  }

  @Test func `a write that changes nothing writes nothing`() async throws {
    let person = full()
    try await replica.write { try $0.insert(person) }
    try await desk.world.settle()
    let nothing = try await replica.write { tx in
      try tx.update(person.id) { $0.name = person.name }
      try tx.update(person.id) { $0.address = Crm.Address(street: "Main \"1\"", city: nil) }
      try tx.update(person.id) { $0.seen = Date(timeIntervalSince1970: 1_700_000_000.250_4) }
      try tx.increment(\Crm.Person.visits, of: person.id, by: 0)
    }
    #expect(nothing == nil)
    try await desk.world.expectPending(desk.ana, 0)
    try await desk.world.finish()
  }

  @Test func `a value that another version of the app wrote is left as it is by an edit of others`() async throws {
    let id = try await desk.person("Luz") { $0.salary = 1 }
    try await desk.world.settle()
    try desk.world.server.execute("UPDATE people SET salary = '1.50', address = '{\"b\":1, \"street\":\"x\"}'")
    try await desk.world.settle()
    try await replica.write { try $0.update(id) { $0.phone = "1" } }
    #expect(try await desk.waiting() == ["set people phone"])
    try await desk.world.settle()
    try await desk.world.expect(
      desk.ben, "SELECT salary, address FROM people", shows: [["1.50", "{\"b\":1, \"street\":\"x\"}"]])
    try await desk.world.finish()
  }

  @Test func `records are found, changed and removed by composite keys`() async throws {
    let team = desk.team
    try await replica.write { tx in
      #expect(try tx.find(Crm.Member.self, key: team, "ben")?.role == .guest)
      try tx.update(Crm.Member.self, key: team, "ben") { $0.role = .owner }
      #expect(try tx.find(Crm.Member.self, key: team, "ben")?.role == .owner)
      #expect(try tx.find(Crm.Member.self, key: team, "nobody") == nil)
    }
    #expect(try await desk.waiting() == ["set members role"])
    try await replica.write { try $0.delete(Crm.Member.self, key: team, "ben") }
    #expect(try await replica.read(Crm.Member.all).map(\.user) == ["ana"])
    #expect(Crm.Member(team: team, user: "ben").id == RowKey("members", .text(team.text), "ben"))
    try await desk.world.settle()
    try await desk.world.finish()
  }

  @Test func `what must not be written is refused with table and column, and nothing happens`() async throws {
    let id = try await desk.person("Luz")
    try await desk.world.settle()
    var numbered = Crm.Quote(person: id)
    numbered.number = "Q-1"
    var endless = full()
    endless.seen = Date(timeIntervalSince1970: .infinity)
    var unreal = full()
    unreal.score = .nan
    var torn = full()
    torn.name = "a\u{0}b"
    let refusals: [(StoreError.Code, String, @Sendable (inout WriteTransaction) throws -> Void)] = [
      (.invalid, "quotes.number", { [numbered] in try $0.insert(numbered) }),
      (.invalid, "people.seen", { [endless] in try $0.insert(endless) }),
      (.invalid, "people.score", { [unreal] in try $0.insert(unreal) }),
      (.invalid, "people.name", { [torn] in try $0.insert(torn) }),
      (.invalid, "people.name", { try $0.update(id) { $0.name = "\u{0}" } }),
      (.invalid, "people.id", { try $0.update(id) { $0.id = RowID() } }),
      (.notFound, "people", { try $0.update(RowID<Crm.Person>()) { $0.name = "x" } }),
      (.notFound, "people", { try $0.delete(RowID<Crm.Person>()) }),
      (.exists, "people", { tx in try tx.insert(try #require(try tx.find(id))) }),
      (.invalid, "a property of Person", { try $0.increment(\Crm.Person.nothing, of: id) }),
    ]
    for (code, place, write) in refusals {
      let error = await #expect(throws: StoreError.self, "\(place)") { try await replica.write(nil, write) }
      #expect(error?.code == code)
      #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
    }
    try await desk.world.expectPending(desk.ana, 0)
    try await desk.world.finish()
  }

  @Test func `a record that the schema does not declare, or otherwise, is refused`() async throws {
    struct Plant: Record {
      var id = RowID<Plant>()
      var name = ""
      static let table = TableSchema<Plant>("plants") { Column("name", \.name) }.space("team", by: \.name)
    }
    struct OtherTeam: Record {
      var id = RowID<OtherTeam>()
      var name: String?
      static let table = TableSchema<OtherTeam>("teams") { Column("name", \.name) }.space("team", by: \.id)
    }
    for write: @Sendable (inout WriteTransaction) throws -> Void in [
      { try $0.insert(Plant()) }, { try $0.insert(OtherTeam()) },
      { try $0.update(RowID<OtherTeam>("x")) { $0.name = "y" } },
      { try $0.delete(RowID<Plant>()) }, { _ = try $0.find(RowID<OtherTeam>()) },
    ] {
      let error = await #expect(throws: StoreError.self) { try await replica.write(nil, write) }
      #expect(error?.code == .invalid)
    }
    try await desk.world.finish()
  }

  @Test func `a query within a write sees its changes`() async throws {
    let team = desk.team
    try await replica.write { tx in
      try tx.insert(Crm.Person(team: team, name: "Luz"))
      try tx.insert(Crm.Person(team: team, name: "Ada"))
      #expect(try tx.read(Crm.Person.query("ORDER BY name")).map(\.name) == ["Ada", "Luz"])
      #expect(try tx.read(Query(Int.self, "SELECT count(*) FROM people WHERE team = \(team)")) == [2])
      #expect(throws: StoreError.self) { _ = try tx.read(Query(rows: "DELETE FROM main.people")) }
    }
    #expect(try await replica.read(Crm.Person.all).count == 2)
    // A write that is undone takes along what reading made ready.
    struct Changed: Error {}
    await #expect(throws: Changed.self) {
      try await replica.write { tx in
        #expect(try tx.read(Crm.Person.all).count == 2)
        throw Changed()
      }
    }
    let count = Query(Int.self, "SELECT count(*) FROM people")
    try await replica.write { tx in if try tx.read(count) != [2] { throw Changed() } }
    try await desk.world.settle()
    try await desk.world.finish()
  }

  @Test func `what is on the device only is written with the rest, and never sent`() async throws {
    let team = desk.team
    var search = Crm.Search(text: "lu%")
    search.count = 1
    let first = search
    #expect(try await replica.write { try $0.insert(first) } == nil)
    #expect(try await replica.read(Crm.Search.all) == [first])
    try await replica.write { tx in
      try tx.insert(Crm.Person(team: team, name: "Luz"))
      try tx.update(Crm.Search.self, key: "lu%") { $0.count += 1 }
      try tx.insert("searches", ["text": "ada", "count": 7])
    }
    #expect(try await desk.waiting() == ["insert people is_active name team"])
    #expect(try await replica.read(Query(Int.self, "SELECT count FROM searches ORDER BY text")) == [7, 2])
    for (code, write): (StoreError.Code, @Sendable (inout WriteTransaction) throws -> Void) in [
      (.exists, { try $0.insert(first) }), (.notFound, { try $0.delete(Crm.Search.self, key: "x") }),
      (.invalid, { try $0.insert("searches", ["text": "b", "count": "x"]) }),
      (.invalid, { try $0.insert("searches", ["text": "b"]) }),
      (.invalid, { try $0.increment(RowKey("searches", "ada"), "count") }),
    ] {
      let error = await #expect(throws: StoreError.self) { try await replica.write(nil, write) }
      #expect(error?.code == code)
    }
    try await replica.write { try $0.delete(Crm.Search.self, key: "ada") }
    #expect(try await replica.read(Crm.Search.all).map(\.text) == ["lu%"])
    try await desk.world.settle()
    #expect(try await desk.ben.replica.read(Crm.Search.all).isEmpty)
    try await desk.ana.restart()
    #expect(try await replica.read(Crm.Search.all).map(\.count) == [2])
    try await desk.world.finish()
  }

  @Test func `ten thousand records fit into one write, and one more does not`() async throws {
    let team = desk.team
    let people = (0..<Limits.operations).map { Crm.Person(team: team, name: "\($0)") }
    await #expect(throws: StoreError.self) {
      try await replica.write { try $0.insert(contentsOf: people + [Crm.Person(team: team, name: "more")]) }
    }
    #expect(try await replica.read(Query(Int.self, "SELECT count(*) FROM people")) == [0])
    try await replica.write("many") { try $0.insert(contentsOf: people) }
    let entry = try #require(try await replica.read(.outbox).first)
    #expect(entry.kind == "many")
    #expect(entry.item?.table == "people")
    #expect(entry.bytes > 100_000)
    try await replica.discard(entry)
    try await desk.world.settle()
    try await desk.world.finish()
  }
}

extension Crm.Person {
  /// A property that is no column.
  fileprivate var nothing: Int { 0 }
}
