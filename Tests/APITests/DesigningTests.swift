// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryTestSupport
import Testing

/// What the guide to schemas says of its own tables.
@Suite("The guide to schemas") struct DesigningTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() async throws -> Replica {
    try await Replica.open(in: folder.path(""), account: "ana", schema: .field)
  }

  @Test func `a job, its visits and its end are writes of few operations each`() async throws {
    let replica = try await open()
    let (crew, tiles) = (Crew(name: "North"), Material(name: "tiles"))
    try await replica.write { tx in
      try tx.insert(crew)
      try tx.insert(CrewMember(crew: crew.id, user: "ana"))
      try tx.insert(tiles)
    }
    let job = try await replica.plan("Roof", for: crew.id, using: [tiles.id])
    try await replica.logVisit(to: job)
    try await replica.hand(job, to: Crew(name: "South").id)
    let found = try #require(try await replica.first(Job.query(id: job)))
    #expect(found.visits == 1)
    #expect(found.number == "new-" + job.text.suffix(4))
    try await replica.drop(job)
    let counts = try await replica.read(.outbox).map { $0.operations.count }
    #expect(counts == [3, 2, 1, 1, 2])
    #expect(try await replica.read(Usage.all).isEmpty)
  }

  @Test func `what a unique index forbids is refused at once if the device holds the other row`() async throws {
    let replica = try await open()
    let (crew, job) = (Crew(name: "North"), RowID<Job>())
    try await replica.write { tx in
      try tx.insert(crew)
      try tx.insert(Job(id: job, crew: crew.id, title: "Roof"))
      try tx.insert(Badge(job: job, user: "ana", colour: "red"))
    }
    let error = await #expect(throws: StoreError.self) {
      try await replica.write { try $0.insert(Badge(job: job, user: "ben", colour: "red")) }
    }
    #expect(error?.code == .constraint)
  }

  @Test func `a material that is used cannot be removed`() async throws {
    let replica = try await open()
    let (crew, tiles) = (Crew(name: "North"), Material(name: "tiles"))
    try await replica.write { tx in
      try tx.insert(crew)
      try tx.insert(tiles)
    }
    _ = try await replica.plan("Roof", for: crew.id, using: [tiles.id])
    let error = await #expect(throws: StoreError.self) { try await replica.write { try $0.delete(tiles.id) } }
    #expect(error?.code == .constraint)
  }

  /// The version of a year ago.
  private enum Before {
    struct Reminder: Record {
      var id = RowID<Reminder>()
      var owner: String
      var text: String
      var colour: String?
      static let table = TableSchema<Reminder>("reminders") {
        Column("owner", \.owner)
        Column("text", \.text)
        Column("colour", \.colour)
      }.space("user", by: \.owner)
    }
    struct Scrap: Record {
      var id = RowID<Scrap>()
      static let table = TableSchema<Scrap>("scraps") {}.space("public:scraps")
    }
    static let schema = Schema("notes", version: 1) {
      Space(everyone: "public")
      Feature("own", .replica) {
        Reminder.table
        Scrap.table
      }
    }
  }

  private func writeBefore() async throws {
    let replica = try await Replica.open(in: folder.path(""), account: "ana", schema: Before.schema)
    try await replica.write("remember") { try $0.insert(Before.Reminder(owner: "ana", text: "buy a ladder")) }
  }

  @Test func `a later version brings the rows and what waits along, and fills a column once`() async throws {
    try await writeBefore()
    for _ in 1...2 {
      let replica = try await NextVersion.open(in: folder.path(""), account: "ana")
      let reminders = try await replica.read(NextVersion.Reminder.all)
      #expect(reminders.map(\.note) == ["buy a ladder"])
      #expect(reminders.map(\.words) == [3])
      let entries = try await replica.read(.outbox)
      #expect(entries.map(\.label) == ["remember", "count words"])
    }
  }
}
