// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryTestSupport
import SkerryTesting
import Synchronization
import Testing

@Suite("Observing queries") struct ObservingTests {
  private let desk: CrmDesk
  private var replica: Replica { desk.ana.replica }
  private let names = Query(String.self, "SELECT name FROM people ORDER BY name")

  init() async throws { desk = try await CrmDesk() }

  @Test func `the first answer comes at once, and the next after a change of a table that is read`() async throws {
    var answers = replica.observe(names).makeAsyncIterator()
    #expect(try await answers.next() == [])
    _ = try await desk.person("Luz")
    #expect(try await answers.next() == ["Luz"])
    try await desk.world.settle()
    try desk.world.server.execute("UPDATE people SET name = 'Lux'")
    try await desk.ana.sync()
    #expect(try await answers.next() == ["Lux"])
    try await desk.world.settle()
    try await desk.world.finish()
  }

  @Test func `changes that come while nobody looks are one answer, the newest`() async throws {
    var answers = replica.observe(names).makeAsyncIterator()
    #expect(try await answers.next() == [])
    for name in ["c", "a", "b"] { _ = try await desk.person(name) }
    #expect(try await answers.next() == ["a", "b", "c"])
    try await desk.world.settle()
    try await desk.world.finish()
  }

  @Test func `an answer that is the same is not told again`() async throws {
    let luz = try await desk.person("Luz")
    var answers = replica.observe(names).makeAsyncIterator()
    #expect(try await answers.next() == ["Luz"])
    try await replica.write { try $0.update(luz) { $0.phone = "1" } }
    try await replica.write { try $0.insert(Crm.Search(text: "x")) }
    try await desk.world.settle()
    _ = try await desk.person("Max")
    #expect(try await answers.next() == ["Luz", "Max"])
    try await desk.world.settle()
    try await desk.world.finish()
  }

  @Test func `a change and its opposite between two looks are none`() async throws {
    var answers = replica.observe(names).makeAsyncIterator()
    #expect(try await answers.next() == [])
    let luz = try await desk.person("Luz")
    try await replica.write { try $0.delete(luz) }
    let next = Task { [answers] in
      var answers = answers
      return try await answers.next()
    }
    _ = try await desk.person("Max")
    #expect(try await next.value == ["Max"])
    try await desk.world.settle()
    try await desk.world.finish()
  }

  @Test func `joins, inboxes and local tables are observed by the tables that they read`() async throws {
    let luz = try await desk.person("Luz")
    try await desk.world.settle()
    let quotes = Query(String.self, "SELECT p.name FROM quotes AS q JOIN people AS p ON p.id = q.person")
    var joined = replica.observe(quotes).makeAsyncIterator()
    var outbox = replica.observe(.outbox).makeAsyncIterator()
    var searches = replica.observe(Crm.Search.all).makeAsyncIterator()
    #expect(try await joined.next() == [])
    #expect(try await outbox.next()?.count == 0)
    #expect(try await searches.next() == [])
    try await replica.write { try $0.insert(Crm.Quote(person: luz)) }
    #expect(try await joined.next() == ["Luz"])
    #expect(try await outbox.next()?.map(\.kind) == ["insert quotes"])
    try await replica.write { try $0.insert(Crm.Search(text: "x")) }
    #expect(try await searches.next() == [Crm.Search(text: "x")])
    try await desk.world.settle()
    #expect(try await outbox.next()?.count == 0)
    try await desk.world.finish()
  }

  @Test func `refusals are observed, and their acknowledgement`() async throws {
    let team = desk.team
    var refusals = replica.observe(.rejections).makeAsyncIterator()
    #expect(try await refusals.next()?.count == 0)
    try await replica.write("lost") { tx in
      var person = Crm.Person(team: team, name: "Luz")
      person.manager = RowID()
      try tx.insert(person)
    }
    try await desk.world.settle()
    let refusal = try #require(try await refusals.next()?.first)
    #expect(refusal.label == "lost")
    try await replica.acknowledge(refusal)
    #expect(try await refusals.next()?.count == 0)
    try await desk.world.finish()
  }

  @Test func `it ends with its task, also while it waits`() async throws {
    let seen = Mutex(0)
    let (began, begin) = AsyncStream.makeStream(of: Void.self)
    let task = Task { [replica, names] in
      for try await _ in replica.observe(names) {
        seen.withLock { $0 += 1 }
        begin.yield()
      }
    }
    for await _ in began { break }
    task.cancel()
    try await task.value
    #expect(seen.withLock { $0 } == 1)
    try await desk.world.finish()
  }

  @Test func `a row that cannot be read is left out, and told of`() async throws {
    struct Event: Error {}
    let events = replica.events()
    try desk.world.server.execute("UPDATE members SET role = 'admin' WHERE user = 'ben'")
    try await desk.world.settle()
    #expect(try await replica.read(Crm.Member.all).map(\.user) == ["ana"])
    for await event in events {
      guard case .unreadable(let reasons) = event else { continue }
      #expect(reasons == ["role: a case of Role wanted, an unknown raw value found"])
      break
    }
    try await desk.world.finish()
  }

  @Test func `a tracked record tells how far its changes are`() async throws {
    func states(_ device: TestDevice) async throws -> [String: RecordState] {
      let tracked = try await device.replica.read(Crm.Person.tracked("ORDER BY name"))
      return Dictionary(uniqueKeysWithValues: tracked.map { ($0.record.name, $0.state) })
    }
    let luz = try await desk.person("Luz")
    #expect(try await states(desk.ana) == ["Luz": .waiting])
    let fresh = try #require(try await replica.read(Crm.Person.tracked()).first)
    #expect(fresh.confirmedAt == nil)
    #expect(fresh.id == luz)

    desk.world.network.loseNextAnswer(of: desk.ana, .push)
    try await desk.ana.sync()
    #expect(try await states(desk.ana) == ["Luz": .sent])
    try await desk.world.settle()
    #expect(try await states(desk.ana) == ["Luz": .confirmed])
    let syncedAt = try await replica.facts().syncedAt
    #expect(try await replica.read(Crm.Person.tracked()).map(\.confirmedAt) == [syncedAt])

    try await replica.write { try $0.update(luz) { $0.phone = "1" } }
    let edited = try #require(try await replica.read(Crm.Person.tracked("WHERE id = \(luz)")).first)
    #expect(edited.state == .waiting)
    #expect(edited.confirmedAt == syncedAt)
    try await desk.world.settle()
    try await desk.world.finish()
  }

  @Test func `a tracked record is told anew when it is confirmed, and when it is fresher`() async throws {
    var answers = replica.observe(Crm.Person.tracked()).makeAsyncIterator()
    #expect(try await answers.next()?.count == 0)
    _ = try await desk.person("Luz")
    #expect(try await answers.next()?.map(\.state) == [.waiting])
    try await desk.world.settle()
    let confirmed = try #require(try await answers.next()?.first)
    #expect(confirmed.state == .confirmed)
    await desk.world.clock.advance(by: .minutes(1))
    try await desk.ana.sync()
    let fresher = try #require(try await answers.next()?.first)
    #expect(fresher.confirmedAt ?? 0 > confirmed.confirmedAt ?? 0)
    try await desk.world.finish()
  }

  @MainActor @Test func `a live query holds the newest rows for a view`() async throws {
    let live = LiveQuery(names, in: replica)
    #expect(!live.isLoaded)
    let task = Task { await live.run() }
    await until { live.isLoaded }
    #expect(live.rows == [])
    _ = try await desk.person("Luz")
    await until { live.rows == ["Luz"] }
    task.cancel()
    await task.value
    #expect(live.failure == nil)
    let broken = LiveQuery(Query(rows: "SELECT nothing FROM people"), in: replica)
    await broken.run()
    #expect(broken.failure != nil)
    #expect(!broken.isLoaded)
    try await desk.world.settle()
    try await desk.world.finish()
  }

  @MainActor private func until(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
  }
}
