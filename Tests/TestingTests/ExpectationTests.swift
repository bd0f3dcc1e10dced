// SPDX-License-Identifier: Apache-2.0
import SkerryTesting
import Testing

/// Each expectation fails when it should, and says what it found.
@Suite struct ExpectationTests {
  /// What an expectation that must fail says.
  private func failure(_ body: () async throws -> Void) async throws -> TestFailure {
    try #require(await #expect(throws: TestFailure.self) { try await body() })
  }

  @Test func `rows that differ are shown beside those that were expected, with the world`() async throws {
    let office = try await Office()
    let failure = try await failure {
      try await office.world.expect(office.ana, "SELECT last, visits FROM people", shows: [["Luz", "0"], [nil]])
    }
    #expect(
      failure.reason == """
        ana's phone: SELECT last, visits FROM people
          expected
            "Luz" | "0"
            -
          found
            "Luz" | 0

        """)
    #expect(failure.world == (try await office.world.text()))
    #expect(failure.place.hasPrefix("TestingTests/ExpectationTests.swift:"))
    #expect("\(failure)" == "\(failure.place): \(failure.reason)\n\n\(failure.world)")
  }

  @Test func `rows of the server that differ are shown too`() async throws {
    let office = try await Office()
    let failure = try await failure { try await office.world.expectServer("SELECT id FROM people", shows: []) }
    #expect(failure.reason == "server: SELECT id FROM people\n  expected\n    no rows\n  found\n    \"luz\"\n")
  }

  @Test func `a wrong number of pending writes is told`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    let failure = try await failure { try await office.world.expectPending(office.ana, 0) }
    #expect(failure.reason == "ana's phone: 0 pending expected, 1 found")
    #expect(failure.world.contains("  pending, waiting: \"visit\" add 1 to visits of people/luz\n"))
  }

  @Test func `a refusal that is not there, or has another code, is told`() async throws {
    let office = try await Office()
    let none = try await failure { try await office.world.expectRefusal(on: office.ana, code: .exists) }
    #expect(none.reason == "ana's phone: one refusal with the code exists expected, found none")
    try await office.visit(office.ana)
    try office.world.server.execute("DELETE FROM people")
    try await office.world.settle()
    let other = try await failure { try await office.world.expectRefusal(on: office.ana, code: .exists) }
    #expect(other.reason == "ana's phone: one refusal with the code exists expected, found gone")
  }

  @Test func `a device that has not heard of something does not agree`() async throws {
    let office = try await Office()
    try await office.world.expectAgreement()
    try office.world.server.execute("UPDATE people SET last = 'Rey'")
    let failure = try await failure { try await office.world.expectAgreement() }
    #expect(
      failure.reason.hasPrefix("ana's phone differs from the server: people/luz\n    server  luz | t | Ana | Rey"))
    try await office.world.settle()
    try await office.world.expectAgreement()
  }

  @Test func `a device whose rows are right and whose versions are not does not agree`() async throws {
    let office = try await Office()
    try office.world.server.execute("UPDATE people SET last = 'Rey'")
    try await office.ben.sync()
    try office.world.server.execute("UPDATE people SET last = 'Luz'")
    let early = try await failure { try await office.world.expectAgreement() }
    #expect(early.reason.hasPrefix("ana's phone differs from the server: the digest of team:t"))
  }

  @Test func `a world that cannot come to rest says so`() async throws {
    let office = try await Office()
    try await office.visit(office.ana)
    office.world.network.captivePortal(for: office.ana)
    let failure = try await failure { try await office.world.settle() }
    #expect(failure.reason.hasPrefix("the world does not come to rest"))
    #expect(failure.world.contains("  captivePortal of ana's phone: "))
  }
}
