// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryAmbientKit
import SkerryHTTP
import SkerryServer
import SkerryTestSupport
import SkerryTokenKit
import Synchronization
import Testing

@Suite("The program of the interface") struct ProgramTests {
  @Test func `it runs against a server over HTTP, and another device sees what it did`() async throws {
    let folder = try TemporaryFolder()
    let secret = Array("0123456789abcdef0123456789abcdef".utf8)
    let server = try Server.start(
      Server.Configuration(schema: .crm, database: folder.path("crm.db"), keys: [try .hs256(secret: secret)]))
    defer { _ = server.stop() }
    let now = { @Sendable in SystemAmbient().now() }
    func transport(_ account: AccountID) throws -> HTTPTransport {
      let claims = TokenClaims(
        subject: account.text, issuer: "skerry", audience: ["skerry"], expires: now() + 3_600_000)
      let token = try TokenSigner(secret: secret).sign(claims)
      return try HTTPTransport(baseURL: "http://127.0.0.1:\(server.port)", now: now) { token }
    }
    let (team, ana, quote) = (RowID<Team>(), RowID<Person>(), RowID<Quote>())
    let events = Mutex<[LogEntry.Event]>([])
    let report = try await Program(folder: folder.path(""), me: "ana", transport: transport("ana")) { entry in
      events.withLock { $0.append(entry.event) }
    }.app(team, ana, quote)
    #expect(Set([.open, .push, .pull, .page, .refusal, .adoption]).isSubset(of: events.withLock { $0 }))
    #expect(report.adopted == 1)
    #expect(report.story.hasPrefix("shown as the server confirmed it, as of position "))
    #expect(report.names == ["Ana"])
    #expect(report.states == [.waiting])
    #expect(report.refused == ["not mine"])
    #expect(report.pushed == 3)
    #expect(report.number == "DRAFT-" + quote.text.suffix(6))

    let other = try TemporaryFolder()
    let second = try await Replica.open(in: other.path(""), account: "ana", schema: .crm)
    _ = try await SyncEngine(second, transport: try transport("ana")).syncOnce(within: .seconds(25))
    let person = try #require(try await second.first(Person.query(id: ana)))
    #expect(person.phone == "555-0101")
    #expect(person.visits == 1)
  }
}
