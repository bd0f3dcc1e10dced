// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SkerrySQLiteKit
import SkerryServer
import SkerrySockets
import Synchronization
import Testing

/// A server that is told to stop while many devices push: whatever they were told holds, and what they were not told can
/// be sent again.
@Suite(.timeLimit(.minutes(5))) struct LoadTests {
  static let devices = 200
  /// The answers after which the server is told to stop.
  static let enough = 600

  /// One device with an account, a team and a person of its own, whose visits count its mutations.
  struct Device: Sendable {
    let number: Int
    let token: String

    init(_ number: Int) throws {
      self.number = number
      token = try Shop.token("u\(number)")
    }

    /// The request that offers the n-th mutation, the same each time.
    func push(_ n: Int) -> String {
      Shop.post("/v1/push", Shop.push("r\(number)", n == 1 ? first : count(n)), token: token)
    }

    private func id(_ n: Int) -> String {
      func digits(_ value: Int, _ width: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: width - text.count) + text
      }
      return "0190b5a0-0000-7000-8000-\(digits(number, 4))\(digits(n, 8))"
    }

    private var first: String {
      #"{"id": "\#(id(1))", "n": 1, "after": [], "ops": ["#
        + #"{"op": "insert", "table": "teams", "key": ["t\#(number)"], "fields": {"name": "T"}}, "#
        + #"{"op": "insert", "table": "members", "key": ["m\#(number)"], "fields": {"team": "t\#(number)", "user": "u\#(number)"}}, "#
        + #"{"op": "insert", "table": "people", "key": ["p\#(number)"], "fields": {"team": "t\#(number)", "first": "A", "last": "B", "visits": 1}}]}"#
    }

    private func count(_ n: Int) -> String {
      #"{"id": "\#(id(n))", "n": \#(n), "after": [], "ops": [{"op": "increment", "table": "people", "#
        + #""key": ["p\#(number)"], "incarnation": "\#(id(1)):2", "column": "visits", "by": 1}]}"#
    }

    /// Whether this is the answer that the n-th mutation is settled and confirmed.
    func isConfirmed(_ response: RawClient.Response, _ n: Int) -> Bool {
      let verdicts = object(response.body)["verdicts"] as? [[String: Any]] ?? []
      return response.status == 200 && verdicts.count == 1 && verdicts[0]["kind"] as? String == "settled"
        && verdicts[0]["outcome"] as? String == "confirmed" && verdicts[0]["id"] as? String == id(n)
    }
  }

  /// What one device was told before the server was gone.
  struct Account: Sendable {
    var acknowledged = 0
    /// Answers that were neither a confirmation nor a refusal, or only parts of one.
    var odd: [String] = []
  }

  /// Counts answers of all devices.
  final class Tally: Sendable {
    private let made = Atomic<Int>(0)
    let enough = DispatchSemaphore(value: 0)

    func add() {
      if made.add(1, ordering: .relaxed).newValue == LoadTests.enough { enough.signal() }
    }
  }

  /// Pushes one mutation after the other on one connection until it is refused or nobody answers any more.
  static func work(_ device: Device, _ port: Int, _ tally: Tally) -> Account {
    var account = Account()
    guard let client = try? RawClient(port: port) else { return account }
    while true {
      let n = account.acknowledged + 1
      guard (try? client.send(device.push(n))) != nil, let response = try? client.response() else { break }
      if device.isConfirmed(response, n) {
        account.acknowledged = n
        tally.add()
        if response["Connection"] == "close" { break }
      } else if response.status == 503, response["Retry-After"] == "1" {
        break  // with advice to come again
      } else {
        account.odd.append("\(response.status) \(response.body)")
        break
      }
    }
    if client.hasPart { account.odd.append("a part of an answer") }
    return account
  }

  /// Offers again what was not answered, twice: the second time is a repeat for certain.
  static func retry(_ device: Device, _ account: Account, _ port: Int) -> Bool {
    guard let client = try? RawClient(port: port) else { return false }
    let n = account.acknowledged + 1
    return (0..<2).allSatisfy { _ in
      guard (try? client.send(device.push(n))) != nil, let response = try? client.response() else { return false }
      return device.isConfirmed(response, n)
    }
  }

  @Test func `whatever 200 devices were told by a server that stopped holds, and the rest arrives once`() throws {
    let shop = try Shop()
    let devices = try (1...Self.devices).map { try Device($0) }
    let tally = Tally()
    var server = try shop.open()
    let port = server.port
    let workers = devices.map { device in Work { Self.work(device, port, tally) } }
    tally.enough.wait()
    #expect(server.stop())
    let accounts = try workers.map { try #require($0.value()) }
    #expect(accounts.flatMap(\.odd) == [])
    #expect(accounts.map(\.acknowledged).reduce(0, +) >= Self.enough)

    server = try shop.open()
    let again = server.port
    let retries = zip(devices, accounts).map { device, account in Work { Self.retry(device, account, again) } }
    #expect(retries.allSatisfy { $0.value() == true })
    #expect(server.stop())
    try expectOnce(shop, accounts)
  }

  /// Each acknowledged and each retried mutation has counted exactly once.
  private func expectOnce(_ shop: Shop, _ accounts: [Account]) throws {
    let connection = try SQLiteConnection(path: shop.database, mode: .reader)
    let visits = try connection.query("SELECT id, visits FROM people") { ($0.text(0), Int($0.integer(1))) }
    #expect(visits.count == Self.devices)
    let expected = accounts.enumerated().map { ("p\($0.offset + 1)", $0.element.acknowledged + 1) }
    #expect(Dictionary(uniqueKeysWithValues: visits) == Dictionary(uniqueKeysWithValues: expected))
    #expect(try connection.first("PRAGMA integrity_check") { $0.text(0) } == "ok")
  }
}
