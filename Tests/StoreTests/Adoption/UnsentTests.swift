// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryTestSupport
import SkerryTesting
import Testing

/// `adopt` with rows that the server does not have.
@Suite struct UnsentAdoptionTests {
  private struct Stop: Error {}

  @Test func `adopted rows are ordinary mutations of so many rows each, and reach the others`() async throws {
    let new = try Newcomer()
    try await new.adoptTeam()
    let result = try await new.ana.replica.adopt(Newcomer.people(1...7), as: .unsent(batch: 3))
    #expect(result.added == 7)
    #expect(result.rows == 7)
    #expect(try await new.ana.replica.read(.outbox).map(\.operations.count) == [3, 3, 1])
    #expect(try await new.ana.replica.read(.outbox).allSatisfy { $0.label == "adopt people" })
    #expect(try await new.shown().count == 7)
    let ben = try new.world.device("ben's phone", account: "ben")
    try await new.world.settle()
    #expect(try await new.shown(on: ben) == (1...7).map { "person \($0) confirmed" })
    try await new.world.finish()
  }

  @Test func `an adoption that has returned is done for good, and does not look at the rows again`() async throws {
    let new = try Newcomer()
    try await new.adoptTeam()
    try await new.ana.replica.adopt(Newcomer.people(1...2), as: .unsent(batch: 10))
    try await new.ana.replica.write { try $0.delete(Newcomer.id(1)) }
    try await new.ana.restart()
    let rows = Newcomer.people(1...2).lazy.map { person -> Crm.Person in
      Issue.record("a row was read")
      return person
    }
    #expect(try await new.ana.replica.adopt(rows, as: .unsent(batch: 10)).wasDone)
    #expect(try await new.shown() == ["person 2 waiting"])
    try await new.world.settle()
    try await new.world.finish()
  }

  @Test func `B17 a call that goes on after a death does each row once, and brings none back that was deleted since`()
    async throws
  {
    let new = try Newcomer()
    try await new.adoptTeam()
    await #expect(throws: Stop.self) {
      try await new.ana.replica.adopt(Newcomer.people(1...6), as: .unsent(batch: 2)) {
        if $0.rows == 4 { throw Stop() }
      }
    }
    try await new.ana.restart()
    try await new.world.settle()
    try await new.ana.replica.write { try $0.delete(Newcomer.id(2)) }
    try await new.ana.replica.write { try $0.update(Newcomer.id(3)) { $0.name = "edited" } }
    try await new.world.settle()
    let result = try await new.ana.replica.adopt(Newcomer.people(1...6), as: .unsent(batch: 2))
    #expect(result.resumed == 4)
    #expect(result.added == 2)
    try await new.world.settle()
    #expect(try await new.onServer() == ["person 1", "edited", "person 4", "person 5", "person 6"])
    #expect(try await new.ana.replica.read(.rejections).isEmpty)
    try await new.world.finish()
  }

  @Test func `what Skerry has wins over a second source`() async throws {
    let new = try Newcomer()
    try await new.adoptTeam()
    try await new.ana.replica.adopt(Newcomer.people(1...3), as: .unsent(batch: 10), name: "old app")
    try await new.ana.replica.write { try $0.update(Newcomer.id(2)) { $0.phone = "555" } }
    try await new.ana.replica.write { try $0.delete(Newcomer.id(3)) }
    let result = try await new.ana.replica.adopt(
      Newcomer.people(1...4) + [Newcomer.person(4), Newcomer.person(4, "another")], as: .unsent(batch: 10), name: "file"
    )
    #expect(result.unchanged == 2)
    #expect(result.differing == 3)
    #expect(result.added == 1)
    #expect(try await new.ana.replica.first(Crm.Person.query(id: Newcomer.id(2)))?.phone == "555")
    try await new.world.settle()
    #expect(try await new.onServer() == ["person 1", "person 2", "person 4"])
    try await new.world.finish()
  }

  @Test func `rows come after those that they refer to, and an error says in which order`() async throws {
    let new = try Newcomer()
    let early = await #expect(throws: AdoptionError.self) {
      try await new.ana.replica.adopt(Newcomer.people(1...2), as: .unsent(batch: 10))
    }
    #expect(early?.row == 1)
    #expect(early?.cause.code == .constraint)
    #expect(early?.cause.message.hasSuffix("adopt teams before people") == true)
    try await new.adoptTeam()
    var boss = Newcomer.person(1)
    var other = Newcomer.person(2)
    other.manager = boss.id
    boss.name = "boss"
    let inner = await #expect(throws: AdoptionError.self) {
      try await new.ana.replica.adopt([other, boss], as: .unsent(batch: 10))
    }
    #expect(inner?.cause.message.hasSuffix("give the rows that others refer to first") == true)
    #expect(try await new.shown().isEmpty)
    #expect(try await new.ana.replica.adopt([boss, other], as: .unsent(batch: 1)).added == 2)
    try await new.world.settle()
    #expect(try await new.onServer() == ["boss", "person 2"])
    try await new.world.finish()
  }

  @Test func `a row that breaks the schema is named by its place, and earlier batches stay`() async throws {
    let new = try Newcomer()
    try await new.adoptTeam()
    var bad = Newcomer.person(4)
    bad.score = .nan
    let error = await #expect(throws: AdoptionError.self) {
      try await new.ana.replica.adopt(Newcomer.people(1...3) + [bad], as: .unsent(batch: 2))
    }
    #expect(error?.row == 4)
    #expect(error?.cause.code == .invalid)
    #expect(try await new.shown().count == 2)
    var first = Newcomer.person(7)
    var second = Newcomer.person(8)
    (first.email, second.email) = ("a@x", "a@x")
    let twice = await #expect(throws: AdoptionError.self) {
      try await new.ana.replica.adopt([first, second], as: .unsent(batch: 2), name: "more")
    }
    #expect(twice?.row == 2)
    #expect(twice?.cause.code == .constraint)
    await #expect(throws: StoreError.self) { try await new.ana.replica.adopt([first], as: .unsent(batch: 0)) }
  }

  @Test func `a batch that is too large for one mutation becomes several`() async throws {
    let new = try Newcomer()
    try await new.adoptTeam()
    let people = (1...6).map { number in
      var person = Newcomer.person(number)
      person.photo = .init(repeating: 7, count: 1_000_000)
      return person
    }
    #expect(try await new.ana.replica.adopt(people, as: .unsent(batch: 100)).added == 6)
    #expect(try await new.ana.replica.read(.outbox).map(\.operations.count) == [4, 2])
    try await new.world.settle()
    try await new.world.finish()
  }

  @Test func `tables that are on the device only are adopted, and nothing of them travels`() async throws {
    let new = try Newcomer()
    let searches = ["a", "b"].map { Crm.Search(text: $0) }
    #expect(try await new.ana.replica.adopt(searches, as: .unsent(batch: 10)).added == 2)
    #expect(try await new.ana.replica.adopt(searches, as: .unsent(batch: 10), name: "again").unchanged == 2)
    #expect(try await new.ana.replica.read(.outbox).isEmpty)
    await #expect(throws: StoreError.self) {
      try await new.ana.replica.adopt(searches, as: .alreadyOnServer, name: "x")
    }
  }

  @Test func `rows may come one after the other`() async throws {
    let new = try Newcomer()
    try await new.adoptTeam()
    let stream = AsyncStream { continuation in
      for person in Newcomer.people(1...5) { continuation.yield(person) }
      continuation.finish()
    }
    #expect(try await new.ana.replica.adopt(stream, as: .unsent(batch: 2)).added == 5)
    #expect(try await new.shown().count == 5)
  }

  @Test func `of two devices that adopt the same rows unsent, the second is refused as a whole, and can go on`()
    async throws
  {
    let new = try Newcomer()
    let tablet = try new.world.device("ana's tablet", account: "ana")
    for device in [new.ana, tablet] { try await new.adoptTeam(on: device) }
    try await new.ana.replica.adopt(Newcomer.people(1...3), as: .unsent(batch: 10))
    // It has one row more, in the same mutation.
    try await tablet.replica.adopt(Newcomer.people(1...4), as: .unsent(batch: 10))
    try await new.ana.sync()
    try await tablet.sync()
    try await new.world.settle()
    let refusal = try #require(try await tablet.replica.read(.rejections).first)
    #expect(refusal.code == .exists)
    #expect(refusal.operations.count == 4)
    #expect(try await new.onServer() == ["person 1", "person 2", "person 3"])
    #expect(try await new.shown(on: tablet).count == 3)
    // The rows are here now, so what only the tablet had is all that is new.
    let again = try await tablet.replica.adopt(Newcomer.people(1...4), as: .unsent(batch: 10), name: "people, again")
    #expect(again.unchanged == 3)
    #expect(again.added == 1)
    try await tablet.replica.acknowledge(refusal)
    try await new.world.settle()
    #expect(try await new.onServer().count == 4)
    try await new.world.finish()
  }
}
