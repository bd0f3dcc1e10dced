// SPDX-License-Identifier: Apache-2.0

import SkerryHTTPKit
import SkerryMachine
import SkerryTransport
import Testing

/// What a transport does between an app and a server that both behave: the contract, over each library.
@Suite(.timeLimit(.minutes(5))) struct ExchangeTests {
  /// The fields that a library adds by itself, which say nothing of the user.
  static let own: [Library: Set<String>] = [
    .curl: [], .urlSession: ["Accept-Encoding", "Accept-Language", "Connection", "User-Agent"],
  ]

  @Test(arguments: Library.allCases)
  func `a message goes out with its token, and an answer comes back`(library: Library) async throws {
    let server = try HTTPServer.start(
      routes: HTTPRoutes([
        HTTPRoute("POST", "/v1/push") { request in
          let fields = request.headers.fields.map { "\($0.name): \($0.value)" }.sorted()
          return .text((fields + [String(decoding: request.body, as: UTF8.self)]).joined(separator: "\n"), status: 201)
        }
      ]))
    let response = try await library.transport(to: server.port).exchange(.push)
    #expect(response.status == 201)
    #expect(response.contentType == "text/plain")
    #expect(response.retryAfter == nil)
    let lines = response.text.split(separator: "\n").filter { line in
      !(Self.own[library] ?? []).contains(String(line.prefix { $0 != ":" }))
    }
    #expect(
      lines.joined(separator: "\n") == """
        Accept: application/json, application/problem+json
        Authorization: Bearer good
        Content-Length: 2
        Content-Type: application/json
        Host: 127.0.0.1:\(server.port)
        {}
        """)
  }

  @Test(arguments: Library.allCases)
  func `one connection serves one exchange after another`(library: Library) async throws {
    let server = try RawServer { peer in while let request = peer.request() { peer.answer(request.body) } }
    let transport = try library.transport(to: server.port)
    for text in ["one", "", "three"] {
      #expect(try await transport.exchange(.text(text)).text == text)
    }
    #expect(server.connections == 1)
  }

  @Test(arguments: Library.allCases)
  func `a connection that was closed in the meantime is replaced`(library: Library) async throws {
    let server = try RawServer { peer in if peer.request() != nil { peer.answer("x") } }
    let transport = try library.transport(to: server.port)
    for _ in 0..<3 { #expect(try await transport.exchange(.push).text == "x") }
    #expect(server.connections == 3)
  }

  @Test(arguments: Library.allCases, ["/sync", "/sync/"])
  func `a path of the base address is kept`(library: Library, base: String) async throws {
    let server = try RawServer { peer in peer.request().map { peer.answer($0.line) } }
    let transport = try library.transport(to: server.port, path: base)
    #expect(try await transport.exchange(.push).text == "POST /sync/v1/push HTTP/1.1")
  }

  @Test(arguments: Library.allCases)
  func `a path or a media type that is none is not sent`(library: Library) async throws {
    let server = try RawServer { _ in }
    let transport = try library.transport(to: server.port)
    for path in ["", "v1", "/a b", "/a\r\nX: y", "/a?b", "/../x?", "/\u{E9}", "@other.example/"] {
      let request = TransportRequest(path: path, contentType: "a/b", body: [])
      #expect(await transport.error(request) == .unreachable("the path is malformed"), "\(path)")
    }
    for type in ["", "a/b\r\nX: y", "a/b\n", "a/\u{E9}"] {
      let request = TransportRequest(path: "/x", contentType: type, body: [])
      #expect(await transport.error(request) == .unreachable("the media type is malformed"), "\(type)")
    }
    #expect(server.connections == 0)
  }

  @Test(arguments: Library.allCases)
  func `as many exchanges as are allowed go side by side, and the others wait`(library: Library) async throws {
    let server = try RawServer { peer in while let request = peer.request() { peer.answer(request.body) } }
    let transport = try library.transport(to: server.port) { $0.connections = 2 }
    let answers = try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<40 { group.addTask { try await transport.exchange(.text(String(number))).text } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(answers == Set((0..<40).map(String.init)))
    #expect(server.connections <= 2)
  }

  @Test(arguments: Library.allCases)
  func `a refusal of a large body is heard before it is sent`(library: Library) async throws {
    var limits = HTTPLimits()
    limits.bodyBytes = 1_000
    let routes = HTTPRoutes([HTTPRoute("POST", "/v1/push") { _ in .text("x") }])
    let server = try HTTPServer.start(limits: limits, routes: routes)
    let large = TransportRequest(path: "/v1/push", contentType: "a/b", body: Array(repeating: 97, count: 4 << 20))
    let transport = try library.transport(to: server.port)
    try await Shortcoming.refusal.row(library) {
      let response = try await transport.exchange(large)
      #expect(response.status == 413)
      #expect(response.contentType == "application/problem+json")
    }
  }

  @Test(arguments: Library.allCases)
  func `a large body and a large answer arrive whole`(library: Library) async throws {
    let routes = HTTPRoutes([
      HTTPRoute("POST", "/v1/push") { HTTPResponse(status: 200, contentType: "a/b", body: $0.body) }
    ])
    let server = try HTTPServer.start(routes: routes)
    let body = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let request = TransportRequest(path: "/v1/push", contentType: "a/b", body: body)
    #expect(try await library.transport(to: server.port).exchange(request).body == body)
  }

  @Test(arguments: Library.allCases)
  func `an answer in pieces and one behind interim responses are whole answers`(library: Library) async throws {
    let server = try RawServer { peer in
      guard peer.request() != nil else { return }
      peer.send("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\nContent-Type: a/b\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
      peer.send("2\r\n{\"\r\n3;x=y\r\na\":\r\n2\r\n1}\r\n0\r\n\r\n")
    }
    let response = try await library.transport(to: server.port).exchange(.push)
    #expect(response == TransportResponse(status: 200, contentType: "application/json", body: Array(#"{"a":1}"#.utf8)))
  }

  @Test(arguments: Library.allCases)
  func `a transport that is let go leaves no connection open`(library: Library) async throws {
    let line = Line<String>()
    let server = try RawServer { peer in
      while let request = peer.request() { peer.answer(request.body) }
      line.say("closed")
    }
    var transport: (any Transport)? = try library.transport(to: server.port)
    #expect(try await transport?.exchange(.push).text == "{}")
    transport = nil
    #expect(await line.next() == "closed")
    #expect(server.connections == 1)
  }

  @Test(arguments: Library.allCases)
  func `a bad token source sends nothing and shows nothing`(library: Library) async throws {
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
      #expect(await (try library.transport(to: server.port, token: token)).error() == expected)
    }
    #expect(server.connections == 0)
  }

  @Test(
    arguments: Library.allCases,
    [
      "", "x", "sync.example.org", "ftp://sync.example.org", "file:///etc/passwd", "https://", "https://u:p@x.example",
      "https://u@x.example", "https://x.example?q", "https://x.example/#f", "https://x.example/a b",
      "https://x\r\n.example", "https://x.example:99999",
    ])
  func `an address that is none is refused at the start`(library: Library, address: String) {
    #expect(throws: HTTPTransportError.badAddress) { try library.transport(address) }
  }

  @Test(arguments: Library.allCases)
  func `plain HTTP is for this machine, unless it is allowed`(library: Library) {
    for address in [
      "http://127.0.0.1:1", "http://127.9.9.9/x", "http://localhost", "http://[::1]:8", "https://x.example",
    ] {
      #expect(throws: Never.self, "\(address)") { try library.transport(address) }
    }
    for address in [
      "http://x.example", "http://10.0.0.1", "http://127.0.0.1.example", "http://localhost.example", "http://0.0.0.0",
    ] {
      #expect(throws: HTTPTransportError.unencrypted, "\(address)") { try library.transport(address) }
      var options = HTTPTransportOptions()
      options.allowsPlainHTTP = true
      #expect(throws: Never.self, "\(address)") { try library.transport(address, options) }
    }
  }
}
