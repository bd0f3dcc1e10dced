// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryTestSupport
import SkerryTesting
import Testing

@Suite("References, unique indexes and values of the server") struct ConstraintTests {
  private let desk: CrmDesk
  private var replica: Replica { desk.ana.replica }

  init() async throws { desk = try await CrmDesk() }

  @Test func `B71 what refers to a row goes with it as operations, or loses its reference`() async throws {
    let boss = try await desk.person("Ada")
    let luz = try await desk.person("Luz") { $0.manager = boss }
    try await desk.world.settle()
    try await replica.write("remove Ada") { try $0.delete(boss) }
    #expect(try await desk.waiting() == ["set people manager", "delete people"])
    try await desk.world.settle()
    let left = try await desk.ben.replica.read(Crm.Person.all)
    #expect(left.map(\.id) == [luz])
    #expect(left.map(\.manager) == [nil])
    try await desk.world.finish()
  }

  @Test func `B71 a whole team goes with its people and members, and what others added meanwhile`() async throws {
    let team = desk.team
    let boss = try await desk.person("Ada")
    _ = try await desk.person("Luz") { $0.manager = boss }
    try await desk.world.settle()
    // Somebody else adds one that this phone has not heard of.
    try await desk.ben.replica.write { try $0.insert(Crm.Person(team: team, name: "Kim")) }
    try await desk.ben.sync()
    try await replica.write("close the team") { try $0.delete(team) }
    #expect(try await desk.waiting().count { $0.hasPrefix("delete") } == 5)
    try await desk.world.settle()
    for device in desk.world.devices {
      #expect(try await device.replica.read(Crm.Team.all).isEmpty)
      #expect(try await device.replica.read(Crm.Person.all).isEmpty)
      try await device.replica.acknowledgeLoss(of: SpaceID(kind: "team", id: team.text))
    }
    try await desk.world.finish()
  }

  @Test func `a row stays as long as one refers to it that must not be left alone`() async throws {
    let luz = try await desk.person("Luz")
    let quote = Crm.Quote(person: luz)
    try await replica.write { try $0.insert(quote) }
    try await desk.world.settle()
    let error = await #expect(throws: StoreError.self) { try await replica.write { try $0.delete(luz) } }
    #expect(error?.code == .constraint)
    #expect(error?.message.contains("quotes refers to it by person") == true)
    // Both in one write, in either order.
    try await replica.write { tx in
      try tx.delete(luz)
      try tx.delete(quote.id)
    }
    try await desk.world.settle()
    #expect(try await desk.ben.replica.read(Crm.Person.all).isEmpty)
    try await desk.world.finish()
  }

  @Test func `the server keeps a row to which somebody has begun to refer`() async throws {
    let luz = try await desk.person("Luz")
    try await desk.world.settle()
    try await desk.ben.replica.write { try $0.insert(Crm.Quote(person: luz)) }
    try await desk.ben.sync()
    try await replica.write("remove Luz") { try $0.delete(luz) }
    try await desk.world.settle()
    let refusal = try await desk.world.expectRefusal(on: desk.ana, code: .constraint)
    #expect(refusal.label == "remove Luz")
    try await replica.acknowledge(refusal)
    #expect(try await replica.read(Crm.Person.all).map(\.id) == [luz])
    try await desk.world.finish()
  }

  @Test func `a row that refers to nothing is refused by the server`() async throws {
    let team = desk.team
    try await replica.write("lost") { tx in
      var person = Crm.Person(team: team, name: "Luz")
      person.manager = RowID()
      try tx.insert(person)
    }
    try await desk.world.settle()
    try await replica.acknowledge(try await desk.world.expectRefusal(on: desk.ana, code: .constraint))
    try await desk.world.finish()
  }

  @Test func `rings of references end`() async throws {
    struct Link: Record {
      var id = RowID<Link>()
      var owner: String
      var next: RowID<Link>?
      static let table = TableSchema<Link>("links") {
        Column("owner", \.owner)
        Column("next", \.next, .reference(onDelete: .cascade))
      }.space("user", by: \.owner)
    }
    let world = try TestWorld(Schema("ring", version: 1) { Feature("links", .replica) { Link.table } })
    let phone = try world.device("phone", account: "ana")
    let ids = (0..<4).map { _ in RowID<Link>() }
    try await phone.replica.write { tx in
      for (index, id) in ids.enumerated() {
        try tx.insert(Link(id: id, owner: "ana", next: ids[(index + 1) % ids.count]))
      }
    }
    try await world.settle()
    try await phone.replica.write { try $0.delete(ids[1]) }
    #expect(try await phone.replica.read(Link.all).isEmpty)
    try await world.settle()
    try await world.expect(phone, "SELECT count(*) FROM links", shows: [[0]])
    try await world.finish()
  }

  @Test func `two rows with the values of a unique index are refused here, or there`() async throws {
    let team = desk.team
    let luz = try await desk.person("Luz") { $0.email = "a@x" }
    _ = try await desk.person("no address")
    _ = try await desk.person("no address either")
    let error = await #expect(throws: StoreError.self) { _ = try await desk.person("Kim") { $0.email = "a@x" } }
    #expect(error?.code == .constraint)
    #expect(error?.message == "people(team, email): another row has these values")
    let ada = try await desk.person("Ada") { $0.email = "b@x" }
    await #expect(throws: StoreError.self) { try await replica.write { try $0.update(ada) { $0.email = "a@x" } } }
    // An edit of the row that has it is none, and what is free again can be had.
    try await replica.write { try $0.update(luz) { $0.name = "Luz M." } }
    try await replica.write { tx in
      try tx.update(luz) { $0.email = "c@x" }
      try tx.update(ada) { $0.email = "a@x" }
    }
    try await desk.world.settle()
    // Nobody here can know.
    try await desk.ben.replica.write("first") { tx in
      var person = Crm.Person(team: team, name: "Bo")
      person.email = "d@x"
      try tx.insert(person)
    }
    _ = try await desk.person("second") { $0.email = "d@x" }
    try await desk.ben.sync()
    try await desk.world.settle()
    let refusal = try await desk.world.expectRefusal(on: desk.ana, code: .constraint)
    #expect(refusal.reason?.contains("people(team, email)") == true)
    try await replica.acknowledge(refusal)
    try await desk.world.finish()
  }

  @Test func `no statement of another program evicts a row by a unique index`() async throws {
    let luz = try await desk.person("Luz") { $0.email = "a@x" }
    try await desk.world.settle()
    let team = desk.team.text
    for verb in ["INSERT", "INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE"] {
      #expect(throws: (any Error).self, "\(verb)") {
        try desk.world.server.execute(
          "\(verb) INTO people(id, team, name, email) VALUES ('00000000-0000-7000-8000-0000000000ff', '\(team)', 'X', 'a@x')"
        )
      }
    }
    // REPLACE of the row itself is an edit of it.
    try desk.world.server.execute(
      "REPLACE INTO people(id, team, name, email) VALUES ('\(luz.text)', '\(team)', 'Luz R.', 'a@x')")
    try await desk.world.settle()
    #expect(try await desk.ben.replica.read(Crm.Person.all).map(\.name) == ["Luz R."])
    try await desk.world.finish()
  }

  @Test func `a number of the server's shows a placeholder until it is there`() async throws {
    let luz = try await desk.person("Luz")
    let quote = Crm.Quote(person: luz)
    try await replica.write { try $0.insert(quote) }
    let draft = "DRAFT-" + quote.id.text.suffix(6)
    #expect(try await replica.first(Crm.Quote.query(id: quote.id))?.number == draft)
    #expect(try await replica.read(Query(Int.self, "SELECT count(*) FROM quotes WHERE number = \(draft)")) == [1])
    #expect(try await replica.read(Crm.Quote.tracked()).map(\.record.number) == [draft])
    try await desk.world.settle()
    #expect(try await desk.ben.replica.read(Crm.Quote.all).map(\.number) == [draft])
    // An edit does not send the placeholder.
    try await replica.write { tx in
      #expect(try tx.find(quote.id)?.number == nil)
      try tx.update(quote.id) { $0.state = "ready" }
    }
    #expect(try await desk.waiting() == ["set quotes state"])
    try await desk.world.settle()
    try desk.world.server.execute("UPDATE quotes SET number = 'Q-0001'")
    try await desk.world.settle()
    for device in desk.world.devices {
      #expect(try await device.replica.read(Crm.Quote.all).map(\.number) == ["Q-0001"])
    }
    let error = await #expect(throws: StoreError.self) {
      try await replica.write { try $0.update(quote.id) { $0.number = "Q-0002" } }
    }
    #expect(error?.message.contains("quotes.number") == true)
    try await desk.world.finish()
  }

  @Test func `a placeholder that is no expression is refused when the store is opened`() async throws {
    struct Bad: Record {
      var id = RowID<Bad>()
      var number: String?
      static let table = TableSchema<Bad>("bad") { Column("number", \.number, .lateBound("upper(nothing)")) }
        .space("all:x")
    }
    let world = try TestWorld(
      Schema("bad", version: 1) {
        Space(everyone: "all")
        Feature("bad", .replica) { Bad.table }
      })
    let phone = try world.device("phone", account: "ana")
    let error = await #expect(throws: SchemaError.self) { _ = try await phone.replica.read(Bad.all) }
    #expect(error?.table == "bad")
    #expect(error?.column == "number")
    #expect(error?.reason.contains("nothing") == true)
  }

  @Test func `what a program leaves out gets its default on the server`() async throws {
    let team = desk.team.text
    try desk.world.server.execute("INSERT INTO people(id, team, name) VALUES ('p', '\(team)', 'Kim')")
    try desk.world.server.execute("INSERT INTO members(team, user) VALUES ('\(team)', 'cy')")
    try await desk.world.settle()
    #expect(try await replica.read(Query(Bool.self, "SELECT is_active FROM people")) == [true])
    #expect(try await replica.read(Query(String.self, "SELECT role FROM members WHERE user = 'cy'")) == ["guest"])
    try await replica.write {
      try $0.insert("people", ["id": "00000000-0000-7000-8000-000000000001", "team": .text(team), "name": "Bo"])
    }
    #expect(try await replica.read(Query(Bool.self, "SELECT is_active FROM people WHERE name = 'Bo'")) == [true])
    try await desk.world.settle()
    try await desk.world.finish()
  }
}
