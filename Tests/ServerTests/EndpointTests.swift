// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerrySQLiteKit
import SkerryServer
import SkerrySockets
import SkerryTokenKit
import Synchronization
import Testing

/// The server as a stranger with a socket sees it.
@Suite struct EndpointTests {
  typealias Response = RawClient.Response

  let shop: Shop
  let server: Server
  let token: String

  init() throws {
    shop = try Shop()
    server = try shop.open()
    token = try Shop.token("ana")
  }

  func ask(_ request: String) throws -> Response {
    let client = try RawClient(port: server.port)
    try client.send(request)
    return try #require(try client.response())
  }

  /// Checks that it is problem details (RFC 9457) of this status, and gives the detail.
  @discardableResult
  func detail(
    _ response: Response, _ status: Int, _ title: String, _ location: SourceLocation = #_sourceLocation
  ) -> String {
    #expect(response.status == status, sourceLocation: location)
    #expect(response["Content-Type"] == "application/problem+json", sourceLocation: location)
    let members = object(response.body)
    #expect(Set(members.keys) == ["type", "title", "status", "detail"], sourceLocation: location)
    #expect(members["type"] as? String == "about:blank", sourceLocation: location)
    #expect(members["title"] as? String == title, sourceLocation: location)
    #expect(members["status"] as? Int == status, sourceLocation: location)
    let detail = members["detail"] as? String ?? ""
    #expect(!detail.isEmpty, sourceLocation: location)
    return detail
  }

  @Test func `whether it is up can be asked without a token`() throws {
    let response = try ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(response.status == 200)
    #expect(response["Content-Type"]?.hasPrefix("text/plain") == true)
    #expect(response.body == "ok\n")
    let refused = try ask("GET /healthz?x HTTP/1.1\r\nHost: x\r\n\r\n")
    detail(refused, 400, "Bad Request")
  }

  @Test(arguments: ["/v1/push", "/v1/pull"])
  func `without a token that counts nobody gets in, and is told how`(path: String) throws {
    let none = try ask(Shop.post(path, "{}", token: nil))
    detail(none, 401, "Unauthorized")
    #expect(none["WWW-Authenticate"] == #"Bearer realm="skerry""#)
    let other = try Shop.token("ana") { $0.audience = ["other"] }
    let issuer = try Shop.token("ana") { $0.issuer = "https://evil.example" }
    let old = try Shop.token("ana") { $0.expires = 1_000_000_000_000 }
    let foreign = try TokenSigner(id: "h1", secret: Array(repeating: 1, count: 32))
      .sign(TokenClaims(subject: "ana", issuer: Shop.issuer, audience: ["skerry"], expires: 4_000_000_000_000))
    for token in [other, issuer, old, foreign, "x", "a.b.c", token + "x", String(repeating: "a", count: 9_000)] {
      let response = try ask(Shop.post(path, "{}", token: token))
      detail(response, 401, "Unauthorized")
      #expect(response["WWW-Authenticate"] == #"Bearer realm="skerry", error="invalid_token""#)
      #expect(response["Connection"] == "close")  // the body was not read
    }
    let twice = "POST \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\nAuthorization: Bearer x\r\n\r\n"
    detail(try ask(twice), 401, "Unauthorized")
    detail(try ask(twice.replacing("Bearer", with: "Basic")), 401, "Unauthorized")
  }

  @Test(arguments: ["BEARER", "bearer"])
  func `the scheme's letters may be large or small`(scheme: String) throws {
    let request = Shop.post("/v1/push", Shop.push("r1", ""), token: token).replacing("Bearer", with: scheme)
    #expect(try ask(request).status == 200)
  }

  @Test func `a body of another type, of another length or of no sense is refused`() throws {
    for type in ["text/plain", "application/jsonx", "application/x-www-form-urlencoded"] {
      detail(try ask(Shop.post("/v1/push", "{}", token: token, type: type)), 415, "Unsupported Media Type")
    }
    for type in ["application/json; charset=utf-8", "Application/JSON", "application/json\t;x=y"] {
      #expect(try ask(Shop.post("/v1/push", Shop.push("r1", ""), token: token, type: type)).status == 200)
    }
    let twice = Shop.post("/v1/push", "{}", token: token).replacing(
      "\r\n\r\n", with: "\r\nContent-Type: text/plain\r\n\r\n")
    detail(try ask(twice), 415, "Unsupported Media Type")
    let long =
      "POST /v1/push HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\nContent-Type: application/json\r\n"
    let announced = try ask(long + "Content-Length: 16777217\r\n\r\n")
    #expect(detail(announced, 413, "Content Too Large") == "The body is longer than 16777216 bytes.")
    for body in ["", "{", "[]", "{}", #"{"protocol": 3, "protocol": 3}"#] {
      let response = try ask(Shop.post("/v1/push", body, token: token))
      detail(response, 400, "Bad Request")
    }
  }

  @Test func `other paths and other methods are refused`() throws {
    detail(try ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), 404, "Not Found")
    detail(try ask(Shop.post("/v1/push/", "{}", token: token)), 400, "Bad Request")
    detail(try ask(Shop.post("/v2/push", "{}", token: token)), 404, "Not Found")
    let get = try ask("GET /v1/push HTTP/1.1\r\nHost: x\r\n\r\n")
    detail(get, 405, "Method Not Allowed")
    #expect(get["Allow"] == "POST")
    let post = try ask(Shop.post("/healthz", "{}", token: token))
    detail(post, 405, "Method Not Allowed")
    #expect(post["Allow"] == "GET, HEAD")
  }

  @Test func `what does not fit the server is told apart`() throws {
    detail(try ask(Shop.post("/v1/push", Shop.push("r1", "", protocol: 4), token: token)), 426, "Upgrade Required")
    detail(try ask(Shop.post("/v1/push", Shop.push("r1", "", version: 2), token: token)), 409, "Conflict")
    let pull =
      #"{"protocol": 3, "schema": {"name": "contacts", "version": 1}, "replicas": [], "cursor": null, "settled": 0, "limit": 9}"#
    let response = try ask(Shop.post("/v1/pull", pull, token: token))
    #expect([400, 413].contains(response.status))
  }

  @Test func `a failure of the database is advised to wait for, and told to the log without tokens and values`() throws
  {
    var shop = try Shop()
    let lines = Mutex<[String]>([])
    shop.configuration.log = { line in lines.withLock { $0.append(line) } }
    let server = try shop.open()
    let connection = try SQLiteConnection(path: shop.database, mode: .writer)
    try connection.execute("ALTER TABLE skerry_receipts RENAME TO elsewhere")
    let mutation = Self.mutation.replacingOccurrences(of: "One", with: "planted")
    let client = try RawClient(port: server.port)
    try client.send(Shop.post("/v1/push", Shop.push("r1", mutation), token: token))
    let response = try #require(try client.response())
    let text = detail(response, 500, "Internal Server Error")
    #expect(text == "the server could not carry this out; try again")
    #expect(response["Retry-After"] == "5")
    let logged = lines.withLock { $0 }
    #expect(logged.count == 1)
    #expect(logged.first?.contains("skerry_receipts") == true)
    #expect(logged.allSatisfy { !$0.contains("planted") && !$0.contains(token) })
  }

  static let mutation =
    #"{"id": "0190b5a0-0000-7000-8000-000000000001", "n": 1, "after": [], "ops": [{"op": "insert", "table": "teams", "#
    + #""key": ["t1"], "fields": {"name": "One"}}, {"op": "insert", "table": "members", "key": ["m1"], "fields": "#
    + #"{"team": "t1", "user": "ana"}}]}"#

  @Test func `secrets and public keys work side by side, each for its own algorithm`() throws {
    var shop = try Shop()
    shop.configuration.keys.append(try .es256(id: "e1", publicKeyPEM: Signed.publicKey))
    let server = try shop.open()
    for (token, status) in [
      (try Shop.token("ana"), 200), (Signed.token, 200),
      // The public key as a shared secret, and each key's id with the other's algorithm.
      (try TokenSigner(id: "e1", secret: Array(Signed.publicKey.utf8)).sign(Signed.claims), 401),
      (try TokenSigner(id: "e1", secret: Shop.secret).sign(Signed.claims), 401),
    ] {
      let client = try RawClient(port: server.port)
      try client.send(Shop.post("/v1/push", Shop.push("r1", ""), token: token))
      #expect(try client.response()?.status == status)
    }
  }
}

/// A token for `ana` that a private key signed which nobody kept; it counts until 2033.
enum Signed {
  static let publicKey = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdBc2pKWR9Qyi2qh0stkaBZ/AtIaG
    hdibR2prvmJWJjeLh3MHYdkav3ay9JS2xbJP2/tmJRvkBUxejaj3w9JLZw==
    -----END PUBLIC KEY-----
    """
  static let token =
    "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImUxIn0"
    + ".eyJzdWIiOiJhbmEiLCJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJza2VycnkiLCJleHAiOjIwMDAwMDAwMDB9"
    + ".ztqONIPNBMoisnFIpPCgtw5alr4efrcRsQdoJcgEBh8uScXpJ22Pswph4jtyFMZFmcrj2_CHJzNO06PkjvtScw"
  static let claims = TokenClaims(
    subject: "ana", issuer: Shop.issuer, audience: ["skerry"], expires: 2_000_000_000_000)
}
