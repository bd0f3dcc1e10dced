// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SkerryHTTPKit
import SkerrySockets
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct LifecycleTests {
  /// Holds a handler until it is let go, and says when it is inside.
  final class Door: Sendable {
    let entered = DispatchSemaphore(value: 0)
    let open = DispatchSemaphore(value: 0)
    let isAside: Bool

    init(isAside: Bool) { self.isAside = isAside }

    var route: HTTPRoute { route("GET") }
    var post: HTTPRoute { route("POST") }

    private func route(_ method: String) -> HTTPRoute {
      HTTPRoute(method, "/door", runsAside: isAside) { [self] _ in
        entered.signal()
        open.wait()
        return .text("through")
      }
    }
  }

  static let request = "GET /door HTTP/1.1\r\nHost: x\r\n\r\n"

  @Test(arguments: [false, true]) func `a stop finishes what is under way and refuses what is new`(
    _ isAside: Bool
  ) throws {
    let door = Door(isAside: isAside)
    let fixture = try ServerFixture([door.route] + ServerFixture.standard)
    let inside = try fixture.client()
    try inside.send(Self.request)
    door.entered.wait()
    let server = fixture.server
    let stopped = Work { server.stop() }
    var refused: RawClient.Response?
    repeat { refused = try fixture.get("/hello") } while refused?.status == 200  // until the stop has begun
    #expect(refused?.status == 503)
    #expect(refused?["Connection"] == "close")
    #expect(refused?["Retry-After"] == "1")
    door.open.signal()
    let response = try #require(try inside.response())
    #expect(response.body == "through")
    #expect(response["Connection"] == "close")
    #expect(stopped.value() == true)
    #expect(throws: RawClient.Failure.self) { try fixture.client() }
    #expect(server.stop())
  }

  @Test(arguments: [false, true]) func `a stop does not wait for ever`(_ isAside: Bool) throws {
    let door = Door(isAside: isAside)
    let fixture = try ServerFixture([door.route]) { $0.stopMilliseconds = 20 }
    let client = try fixture.client()
    try client.send(Self.request)
    door.entered.wait()
    #expect(!fixture.server.stop())
    #expect(fixture.events.all == ["stopped while requests were still at work"])
    door.open.signal()
    _ = try client.readToEnd()
  }

  @Test func `a handler that waits aside holds up no connection but its own`() throws {
    let door = Door(isAside: true)
    let fixture = try ServerFixture([door.route] + ServerFixture.standard, threads: 1)
    let inside = try fixture.client()
    try inside.send(Self.request)
    door.entered.wait()
    for _ in 0..<3 { #expect(try fixture.get("/hello")?.body == "hello") }
    door.open.signal()
    #expect(try inside.response()?.body == "through")
    // The connection goes on as any other.
    door.open.signal()
    try inside.send(Self.request)
    #expect(try inside.response()?.body == "through")
  }

  @Test func `bodies under way are bounded in all, and what does not fit is told to come later`() throws {
    let door = Door(isAside: true)
    let fixture = try ServerFixture([door.post] + ServerFixture.standard) {
      $0.bodyBytes = 1_000
      $0.bodyBytesInAll = 1_500
      $0.shortBodyBytes = 100
    }
    let body = String(repeating: "x", count: 1_000)
    let inside = try fixture.client()
    try inside.send("POST /door HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + body)
    door.entered.wait()
    func echo() throws -> RawClient.Response? {
      let client = try fixture.client()
      try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + body)
      return try client.response()
    }
    let refused = try #require(try echo())
    #expect(refused.status == 503)
    #expect(refused["Retry-After"] == "1")
    #expect(try fixture.get("/hello")?.status == 200)
    let short = try fixture.client()
    try short.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nshort")
    #expect(try short.response()?.body == "short")
    door.open.signal()
    #expect(try inside.response()?.body == "through")
    var later: RawClient.Response?
    repeat { later = try echo() } while later?.status == 503  // the bytes are free when the answer has been sent
    #expect(later?.body == body)
  }

  @Test func `a client that goes away while its handler works aside leaves nothing behind`() throws {
    let door = Door(isAside: true)
    let fixture = try ServerFixture([door.route] + ServerFixture.standard, threads: 1)
    for _ in 0..<3 {
      var client: RawClient? = try fixture.client()
      try client?.send(Self.request)
      door.entered.wait()
      client = nil
      door.open.signal()
    }
    #expect(try fixture.get("/hello")?.body == "hello")
    #expect(fixture.server.stop())
    #expect(fixture.events.all.isEmpty)
  }

  @Test func `under load a stop answers whole or not at all`() throws {
    let body = String(repeating: "x", count: 20_000)
    let counted = Counted(body)
    let fixture = try ServerFixture([HTTPRoute("GET", "/door") { _ in counted.answer() }], threads: 4)
    let port = fixture.server.port
    let hammers = (0..<20).map { _ in Work { LifecycleTests.hammer(port, body: body) } }
    counted.enough.wait()
    #expect(fixture.server.stop())
    let answered = hammers.compactMap { $0.value() }.reduce(0, +)
    #expect(answered == counted.count)
    #expect(answered >= 100)
  }

  final class Counted: Sendable {
    private let made = Atomic<Int>(0)
    private let body: String
    let enough = DispatchSemaphore(value: 0)

    init(_ body: String) { self.body = body }

    var count: Int { made.load(ordering: .relaxed) }

    func answer() -> HTTPResponse {
      if made.add(1, ordering: .relaxed).newValue == 100 { enough.signal() }
      return .text(body)
    }
  }

  /// Asks until it is refused or nobody is there. Returns how often it got an answer; each one is whole.
  private static func hammer(_ port: Int, body: String) -> Int {
    var answered = 0
    while let client = try? RawClient(port: port) {
      for _ in 0..<10 {
        guard (try? client.send(request)) != nil, let response = try? client.response() else { break }
        if response.status == 503 { return answered }
        #expect(response.status == 200)
        #expect(response.body == body)
        answered += 1
        if response["Connection"] == "close" { break }
      }
    }
    return answered
  }

  @Test func `nothing is left of a stopped server`() throws {
    final class Witness: Sendable {}
    weak var left: Witness?
    do {
      let witness = Witness()
      left = witness
      let routes = [HTTPRoute("POST", "/x") { _ in withExtendedLifetime(witness) { .text("x") } }]
      let fixture = try ServerFixture(routes) { $0.bodyBytes = 10 }
      #expect(try fixture.ask("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na")?.status == 200)
      for half in ["POST /x HTTP/1.1\r\n", "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na", "", "x"] {
        let client = try fixture.client()
        try client.send(half)
        client.reset()
      }
      let open = try fixture.client()
      try open.send("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na")
      #expect(try fixture.get("/nowhere")?.status == 404)
      _ = withExtendedLifetime(open) { fixture.server.stop() }
    }
    #expect(left == nil)
  }

  @Test func `a server that is let go stops by itself`() throws {
    var fixture: ServerFixture? = try ServerFixture()
    let port = try #require(fixture?.server.port)
    #expect(try fixture?.get("/hello")?.status == 200)
    fixture = nil
    #expect(throws: RawClient.Failure.self) { try RawClient(port: port) }
  }

  @Test func `a wrong address, a taken port and odd limits are told apart`() throws {
    let fixture = try ServerFixture()
    let port = fixture.server.port
    let routes = HTTPRoutes([])
    #expect(throws: HTTPServerError.cannotListen(host: "127.0.0.1", port: port)) {
      try HTTPServer.start(port: port, routes: routes)
    }
    #expect(throws: HTTPServerError.badAddress(host: "localhost", port: 0)) {
      try HTTPServer.start(host: "localhost", routes: routes)
    }
    #expect(throws: HTTPServerError.badAddress(host: "127.0.0.1", port: 65_536)) {
      try HTTPServer.start(port: 65_536, routes: routes)
    }
    #expect(throws: HTTPServerError.self) { try HTTPServer.start(threads: 0, routes: routes) }
    #expect(fixture.server.port == port)
  }
}
