// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryHTTP
import SkerryServer

/// The program that the interface was designed with, as far as it is built: an app against a server.
struct Program {
  let folder: String
  let me: AccountID
  let transport: any Transport
  let log: LogSink

  /// What happened, for the test that runs it.
  struct Report: Equatable {
    var names: [String] = []
    var states: [RecordState] = []
    var refused: [String] = []
    var pushed = 0
    var number: String?
    var adopted = 0
    var story = ""
  }

  func app(_ team: RowID<Team>, _ ana: RowID<Person>, _ quote: RowID<Quote>) async throws -> Report {
    var report = Report()
    // 2 OPEN: one store per account; nothing starts in an initialiser; cancel `run()` to stop
    let replica = try await Replica.open(in: folder, account: me, schema: .crm, log: log)
    let engine = SyncEngine(replica, transport: transport, policy: .standard)

    // 3 WRITE: synchronous closure, one transaction, durable on return; `tx` is ~Copyable and cannot leave; nil if nothing changed
    try await replica.write("open team") { [me] tx in
      try tx.insert(Team(id: team, name: "Capitol"))
      try tx.insert(Member(team: team, user: me.text))
      try tx.insert(Person(id: ana, team: team, name: "Ana", phone: nil))
      try tx.insert(Quote(id: quote, team: team))
    }
    let change = try await replica.write("log a visit") { tx in
      try tx.insert(Person(team: team, name: "Luz", phone: nil))
      try tx.update(ana) { $0.phone = "555-0101" }  // only changed fields are recorded
      try tx.increment(\Person.visits, of: ana)
    }

    // 4 READ, OBSERVE: one value, `Query`; interpolation binds, never pastes
    let mine = Person.query("WHERE team = \(team) AND name LIKE \("%a%") ORDER BY name LIMIT 50")
    report.names = try await replica.read(mine).map(\.name)
    for try await rows in replica.observe(Person.tracked("WHERE id = \(ana)")) {
      report.states = rows.map(\.state)
      break
    }

    // 5 OUTCOMES: every inbox is a Query too; handling one is itself a durable write
    try await replica.write("not mine") { try $0.insert(Person(team: RowID(), name: "Nobody", phone: nil)) }
    report.pushed = try await engine.syncOnce(within: .seconds(25)).pushed  // a background task
    for refusal in try await replica.read(.rejections) {
      report.refused.append(refusal.label ?? "")
      try await replica.acknowledge(refusal)
    }
    for entry in try await replica.read(.outbox) where entry.state == .failed { try await replica.retry(entry) }
    report.number = try await replica.first(Quote.query(id: quote))?.number

    // 9 ADOPTION: resumable, for apps that come with data; and why a row shows what it shows
    report.adopted = try await replica.adopt(
      [Person(team: team, name: "Old", phone: nil)], as: .unsent(batch: 100)
    ).added
    report.story = try await replica.explain(ana).conclusion
    return change == nil ? Report() : report
  }
}
