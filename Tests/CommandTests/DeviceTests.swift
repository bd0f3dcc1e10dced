// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit
import SkerryHTTP
import SkerryHTTPKit
import SkerryMachine
import SkerryModel
import SkerryServer
import SkerryTestSupport
import SkerryTesting
import SkerryTokenKit
import SkerryWire
import Testing

@testable import SkerryCommands

/// A device's control interface, from outside, over real HTTP in one process.
@Suite(.timeLimit(.minutes(2))) struct DeviceTests {
  private let folder: TemporaryFolder
  private let server: Server
  private let control: HTTPServer
  private let key = "0123456789abcdef"

  init() async throws {
    folder = try TemporaryFolder()
    let secret = [UInt8](repeating: 7, count: 32)
    server = try Server.start(
      Server.Configuration(schema: .model, database: folder.path("server.db"), keys: [try .hs256(secret: secret)]))
    let tokenFile = folder.path("token")
    try Data(TokenCommand.token("ana", secret: secret, hours: 1).utf8).write(to: URL(fileURLWithPath: tokenFile))
    let setup = Device.Setup(
      folder: folder.url.path, account: "ana", schema: .model, server: "http://127.0.0.1:\(server.port)",
      tokenFile: tokenFile, seed: 1)
    let device = try await Device(setup)
    control = try HTTPServer.start(routes: DeviceControl(device: device, key: key, quit: {}).routes)
  }

  private func answer(_ path: String, _ order: JSON, key: String) async throws -> (status: Int, body: JSON) {
    let transport = try HTTPTransport(
      baseURL: "http://127.0.0.1:\(control.port)", now: { SystemAmbient().now() }, token: { key })
    let response = try await transport.exchange(
      TransportRequest(path: path, contentType: "application/json", body: order.encoded))
    return (response.status, try JSON(parsing: response.body))
  }

  private func order(_ path: String, _ order: JSON = .object([])) async throws -> JSON {
    let (status, body) = try await answer(path, order, key: key)
    #expect(status == 200, "\(path): \(body)")
    return body
  }

  private func insert(_ id: JSON) -> JSON {
    ["label": "new", "operations": [["op": "insert", "table": "item", "values": ["id": id, "home": "user:ana"]]]]
  }

  @Test func `no order is taken without the key`() async throws {
    for path in ["/state", "/write", "/quit"] {
      #expect(try await answer(path, insert("i"), key: "wrong").status == 401)
    }
    #expect(try await order("/state")["pending"] == 0)
  }

  @Test func `what is written is read, waits, syncs, and is then the server's`() async throws {
    #expect(try await order("/write", insert("i"))["mutation"] != .null)
    let add: JSON = ["op": "increment", "table": "item", "key": ["i"], "column": "n", "by": 5]
    let set: JSON = ["op": "update", "table": "item", "key": ["i"], "values": ["a": "text"]]
    _ = try await order("/write", ["operations": [add, set]])
    #expect(try await order("/write", ["operations": [set]])["mutation"] == .null)
    let read: JSON = ["sql": "SELECT a, n FROM item WHERE id = ?", "values": ["i"]]
    #expect(try await order("/read", read)["rows"] == [["text", 5]])
    guard case .array(let entries)? = try await order("/outbox")["entries"] else { throw WorldError("no entries") }
    #expect(entries.map { $0["label"] } == ["new", .null])
    let synced = try await order("/sync")
    #expect(synced["pending"] == 0)
    #expect(synced["report"]?["pushed"] == 2)
    #expect(synced["report"]?["consistent"] == true)
    #expect(try await order("/state")["condition"] == "idle")
    _ = try await order("/write", ["operations": [["op": "delete", "table": "item", "key": ["i"]]]])
    #expect(try await order("/read", read)["rows"] == [])
  }

  @Test func `an order that is malformed is refused with its reason, and changes nothing`() async throws {
    let orders: [(String, JSON, Int)] = [
      ("/write", ["operations": [["op": "insert", "table": "nowhere", "values": [:]]]], 422),
      ("/write", ["operations": [["op": "move", "table": "item"]]], 400), ("/write", [:], 400),
      ("/write", ["operations": [["op": "delete", "table": "item", "key": ["none"]]]], 422),
      ("/read", ["sql": "DELETE FROM item"], 422), ("/network", ["next": ["storm"]], 400),
      ("/network", ["chances": ["garble": 2]], 400), ("/clock", ["offset": "soon"], 400),
      ("/discard", ["id": "none"], 422), ("/run", [:], 400), ("/read", ["sql": "SELECT nonsense FROM nowhere"], 422),
      ("/read", ["sql": "SELECT 1; SELECT 2"], 422), ("/read", ["sql": "SELECT ?", "values": []], 422),
      ("/write", ["operations": [["op": "delete", "table": "item", "key": []]]], 422),
      ("/import", ["folder": "/nowhere", "team": "t"], 422), ("/sync", ["seconds": .integer(.max)], 400),
      ("/sync", ["seconds": 0], 400),
    ]
    for (path, message, status) in orders {
      let (found, body) = try await answer(path, message, key: key)
      #expect(found == status, "\(path) \(message): \(body)")
      guard case .string(let detail)? = body["detail"] else { throw WorldError("\(path): no reason") }
      #expect(!detail.isEmpty)
      #expect(!detail.contains("skerry_") && !detail.contains("NSCocoa"), "\(detail)")
    }
    #expect(try await order("/state")["pending"] == 0)
  }

  @Test func `an answer that is lost as told leaves the write waiting, and the next round settles it once`()
    async throws
  {
    _ = try await order("/sync")
    _ = try await order("/write", insert("i"))
    _ = try await order("/network", ["next": ["dropAnswer"]])
    #expect(try await order("/sync")["pending"] == 1)
    #expect(try await order("/state")["network"]?["met"]?["dropAnswer"] == 1)
    #expect(try await order("/sync")["pending"] == 0)
  }

  @Test func `in airplane mode nothing goes out until it ends`() async throws {
    _ = try await order("/network", ["offline": true])
    _ = try await order("/write", insert("i"))
    let synced = try await order("/sync")
    #expect(synced["pending"] == 1)
    #expect(synced["condition"] == "unreachable")
    _ = try await order("/network", ["offline": false])
    #expect(try await order("/sync")["pending"] == 0)
  }

  @Test func `a clock that is set wrong shows in what is written, and in nothing that is synced`() async throws {
    let offset: Int64 = -86_400_000 * 365
    let before = SystemAmbient().now()
    _ = try await order("/clock", ["offset": .integer(offset)])
    _ = try await order("/write", insert("i"))
    guard case .array(let entries)? = try await order("/outbox")["entries"],
      case .integer(let at)? = entries.first?["madeAt"]
    else { throw WorldError("no entry") }
    #expect(abs(at - before - offset) < 600_000)
    #expect(try await order("/sync")["pending"] == 0)
  }

  @Test func `the loop runs until it is told to end`() async throws {
    _ = try await order("/run", ["on": true])
    #expect(try await order("/state")["running"] == true)
    #expect(try await answer("/sync", [:], key: key).status == 409)
    #expect(try await order("/run", ["on": false])["running"] == false)
    #expect(try await order("/sync")["report"]?["consistent"] == true)
  }

  @Test(arguments: ["demo", "serve", "device", "inspect", "explain", "schema", "token", "bench"])
  func `each verb has a page that names its options`(_ verb: String) throws {
    let page = try #require(HelpPage.of(verb))
    #expect(page.text.hasPrefix("skerry \(verb): "))
    #expect(HelpPage.all.contains("  \(verb) "))
    for option in page.usage.split(whereSeparator: { " []()|".contains($0) }) where option.hasPrefix("--") {
      #expect(page.text.contains(option))
    }
  }
}
