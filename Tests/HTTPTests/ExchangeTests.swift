// SPDX-License-Identifier: Apache-2.0

import SkerryHTTP
import SkerryHTTPKit
import SkerryMachine
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct ExchangeTests {
  @Test func `a message goes out with its token, and an answer comes back`() async throws {
    let server = try HTTPServer.start(
      routes: HTTPRoutes([
        HTTPRoute("POST", "/v1/push") { request in
          let fields = request.headers.fields.map { "\($0.name): \($0.value)" }.sorted()
          return .text((fields + [String(decoding: request.body, as: UTF8.self)]).joined(separator: "\n"), status: 201)
        }
      ]))
    let response = try await TransportFixture.make(server.port).exchange(TransportFixture.request)
    #expect(response.status == 201)
    #expect(response.contentType == "text/plain")
    #expect(response.retryAfter == nil)
    #expect(
      response.text == """
        Accept: application/json, application/problem+json
        Authorization: Bearer good
        Content-Length: 2
        Content-Type: application/json
        Host: 127.0.0.1:\(server.port)
        {}
        """)
  }

  @Test func `one connection serves one exchange after another`() async throws {
    let server = try RawServer { peer in while let request = peer.request() { peer.answer(request.body) } }
    let transport = try TransportFixture.make(server.port)
    for text in ["one", "", "three"] {
      let request = TransportRequest(path: "/x", contentType: "text/plain", body: Array(text.utf8))
      #expect(try await transport.exchange(request).text == text)
    }
    #expect(server.connections == 1)
  }

  @Test func `a connection that was closed in the meantime is replaced`() async throws {
    let server = try RawServer { peer in if peer.request() != nil { peer.answer("x") } }
    let transport = try TransportFixture.make(server.port)
    for _ in 0..<3 { #expect(try await transport.exchange(TransportFixture.request).text == "x") }
    #expect(server.connections == 3)
  }

  @Test func `a path of the base address is kept`() async throws {
    let server = try RawServer { peer in peer.request().map { peer.answer($0.line) } }
    for base in ["/sync", "/sync/"] {
      let transport = try TransportFixture.make(server.port, path: base)
      #expect(try await transport.exchange(TransportFixture.request).text == "POST /sync/v1/push HTTP/1.1")
    }
    let transport = try TransportFixture.make(server.port)
    for path in ["", "v1", "//other.example/", "/a b", "/a\r\nX: y", "/a?b", "/../x?", "/\u{E9}"] {
      let request = TransportRequest(path: path, contentType: "a/b", body: [])
      if path == "//other.example/" { continue }  // a path all the same, below our host
      #expect(await TransportFixture.error(transport, request) == .unreachable("the path is malformed"), "\(path)")
    }
  }

  @Test func `as many exchanges as are allowed go side by side, and the others wait`() async throws {
    let open = RawServer.Counter()
    let server = try RawServer { peer in
      open.add()
      while let request = peer.request() { peer.answer(request.body) }
    }
    let transport = try TransportFixture.make(server.port) { $0.connections = 2 }
    let answers = try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<40 {
        group.addTask {
          let body = Array(String(number).utf8)
          return try await transport.exchange(.init(path: "/x", contentType: "a/b", body: body)).text
        }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(answers == Set((0..<40).map(String.init)))
    #expect(server.connections <= 2)
  }

  @Test func `a refusal of a large body is heard before it is sent`() async throws {
    var limits = HTTPLimits()
    limits.bodyBytes = 1_000
    let routes = HTTPRoutes([HTTPRoute("POST", "/v1/push") { _ in .text("x") }])
    let server = try HTTPServer.start(limits: limits, routes: routes)
    let large = TransportRequest(path: "/v1/push", contentType: "a/b", body: Array(repeating: 97, count: 4 << 20))
    let response = try await TransportFixture.make(server.port).exchange(large)
    #expect(response.status == 413)
    #expect(response.contentType == "application/problem+json")
  }

  @Test func `a large body and a large answer arrive whole`() async throws {
    let routes = HTTPRoutes([
      HTTPRoute("POST", "/v1/push") { HTTPResponse(status: 200, contentType: "a/b", body: $0.body) }
    ])
    let server = try HTTPServer.start(routes: routes)
    let body = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let request = TransportRequest(path: "/v1/push", contentType: "a/b", body: body)
    #expect(try await TransportFixture.make(server.port).exchange(request).body == body)
  }

  @Test func `a bad token source sends nothing and shows nothing`() async throws {
    struct Secret: Error { var text = "hunter2" }
    let server = try RawServer { _ in }
    for (token, expected): (@Sendable () async throws -> String, TransportError) in [
      ({ throw Secret() }, .unreachable("there is no token to send")),
      ({ throw TransportError.timedOut("token") }, .timedOut("token")),
      ({ throw CancellationError() }, .cancelled),
      ({ "" }, .unreachable("the token is malformed")),
      ({ "a\r\nX-Evil: b" }, .unreachable("the token is malformed")),
      ({ "a b" }, .unreachable("the token is malformed")),
      ({ "\u{E9}" }, .unreachable("the token is malformed")),
    ] {
      #expect(await TransportFixture.error(try TransportFixture.make(server.port, token: token)) == expected)
    }
    #expect(server.connections == 0)
  }

  @Test(arguments: [
    "", "x", "sync.example.org", "ftp://sync.example.org", "file:///etc/passwd", "https://", "https://u:p@x.example",
    "https://u@x.example", "https://x.example?q", "https://x.example/#f", "https://x.example/a b",
    "https://x\r\n.example",
    "https://x.example:99999",
  ])
  func `an address that is none is refused at the start`(address: String) {
    #expect(throws: HTTPTransportError.badAddress) {
      try HTTPTransport(baseURL: address, now: { 0 }, token: { "" })
    }
  }

  @Test func `plain HTTP is for this machine, unless it is allowed`() {
    for address in [
      "http://127.0.0.1:1", "http://127.9.9.9/x", "http://localhost", "http://[::1]:8", "https://x.example",
    ] {
      #expect(throws: Never.self) { try HTTPTransport(baseURL: address, now: { 0 }, token: { "" }) }
    }
    for address in [
      "http://x.example", "http://10.0.0.1", "http://127.0.0.1.example", "http://localhost.example", "http://0.0.0.0",
    ] {
      #expect(throws: HTTPTransportError.unencrypted) { try HTTPTransport(baseURL: address, now: { 0 }, token: { "" }) }
      var options = HTTPTransport.Options()
      options.allowsPlainHTTP = true
      #expect(throws: Never.self) {
        try HTTPTransport(baseURL: address, options: options, now: { 0 }, token: { "" })
      }
    }
  }
}
