// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel
import SkerryServer
import SkerrySockets
import SkerryTestSupport
import SkerryTokenKit

/// A server over the schema of the example, with a database file that outlives it, spoken to by bytes.
struct Shop {
  static let secret = [UInt8]((0..<32).map { $0 &* 11 })
  static let issuer = "https://id.example"
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  let folder: TemporaryFolder
  var configuration: Server.Configuration

  var database: String { folder.path("crm.db") }

  init() throws {
    folder = try TemporaryFolder()
    let data = try Data(contentsOf: Shop.root.appendingPathComponent("Examples/Contacts/schema.json"))
    configuration = Server.Configuration(
      schema: try JSONDecoder().decode(Schema.self, from: data), database: folder.path("crm.db"),
      keys: [try .hs256(id: "h1", secret: Shop.secret)], issuer: Shop.issuer)
  }

  func open() throws -> Server { try Server.start(configuration) }

  /// A token that counts for the next hour, or as the claims are adjusted.
  static func token(_ account: String, _ adjust: (inout TokenClaims) -> Void = { _ in }) throws -> String {
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    var claims = TokenClaims(subject: account, issuer: issuer, audience: ["skerry"], expires: now + 3_600_000)
    adjust(&claims)
    return try TokenSigner(id: "h1", secret: secret).sign(claims)
  }

  /// A request with a body, on a connection that stays open.
  static func post(
    _ path: String, _ body: String, token: String?, type: String = "application/json"
  ) -> String {
    "POST \(path) HTTP/1.1\r\nHost: x\r\n" + (token.map { "Authorization: Bearer \($0)\r\n" } ?? "")
      + "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  static func push(_ replica: String, _ mutations: String, protocol number: Int = 3, version: Int = 1) -> String {
    #"{"protocol": \#(number), "schema": {"name": "contacts", "version": \#(version)}, "replica": "\#(replica)", "#
      + #""cursor": null, "settled": 0, "mutations": [\#(mutations)]}"#
  }
}

/// What a JSON text says, for tests that look at an answer from outside.
func object(_ text: String) -> [String: Any] {
  (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
}
