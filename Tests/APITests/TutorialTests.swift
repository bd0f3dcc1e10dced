// SPDX-License-Identifier: Apache-2.0
import Foundation
import Skerry
import SkerryServer
import SkerryTestSupport
import Testing

/// The tutorial's code, against a server over HTTP.
@Suite("The tutorial", .timeLimit(.minutes(2))) struct TutorialTests {
  private let folder: TemporaryFolder
  private let server: Server
  private let secret = Array("0123456789abcdef0123456789abcdef".utf8)

  init() throws {
    folder = try TemporaryFolder()
    server = try startServer(database: folder.path("todo.db"), secret: secret)
  }

  private func device(_ account: AccountID) async throws -> Device {
    let home = folder.path(account.text)
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    return try await Device(
      folder: home, account: account, server: "http://127.0.0.1:\(server.port)",
      token: makeToken(for: account, secret: secret, now: now))
  }

  @Test func `its story is told as the guide tells it`() async throws {
    defer { server.stop() }
    let (ana, ben) = (try await device("ana"), try await device("ben"))
    var told: [String] = []
    let list = try await share(ana, ben) { told.append($0) }
    try await meet(ana, ben, list) { told.append($0) }
    try await part(ana, ben, list) { told.append($0) }
    let root = URL(fileURLWithPath: #filePath + "/../../..").standardized
    let guide = try String(contentsOf: root.appendingPathComponent("docs/guides/tutorial.md"), encoding: .utf8)
    let isTold = guide.contains("```text\n" + told.map { $0 + "\n" }.joined() + "```\n")
    #expect(isTold, "\(told)")
  }

  @Test func `a list that is shown is synced, and what it shows becomes confirmed`() async throws {
    defer { server.stop() }
    let ana = try await device("ana")
    let list = try await ana.app.makeList("Groceries", for: ["ana"])
    _ = try await ana.app.add("Milk", to: list)
    var states: [RecordState] = []
    try await ana.show(list) { todos in
      states += todos.map(\.state)
      return states.last != .confirmed
    }
    #expect(states.last == .confirmed)
    #expect(try await ana.app.replica.read(.outbox).isEmpty)
  }
}
