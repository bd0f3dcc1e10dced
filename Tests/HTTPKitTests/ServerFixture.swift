// SPDX-License-Identifier: Apache-2.0

import SkerryHTTPKit
import SkerrySockets
import Synchronization

/// A server with a few routes, stopped when the test lets go of it.
struct ServerFixture {
  let server: HTTPServer
  /// What the server reported.
  let events = Events()

  final class Events: Sendable {
    private let list = Mutex<[String]>([])
    var all: [String] { list.withLock { $0 } }
    func add(_ event: HTTPServerEvent) { list.withLock { $0.append(event.description) } }
  }

  struct Secret: Error, CustomStringConvertible {
    var description: String { "password=hunter2" }
  }

  static let standard = [
    HTTPRoute("GET", "/hello") { _ in .text("hello") },
    HTTPRoute("POST", "/echo") { request in
      HTTPResponse(status: 200, contentType: "application/octet-stream", body: request.body)
    },
    HTTPRoute("PUT", "/echo") { request in HTTPResponse(status: 201, body: request.body) },
    HTTPRoute("GET", "/head") { request in
      .text(request.headers.fields.map { "\($0.name)=\($0.value)" }.joined(separator: "\n"))
    },
    HTTPRoute("GET", "/query", takesQuery: true) { request in .text(request.query ?? "none") },
    HTTPRoute("GET", "/a b/ü") { request in .text(request.path) },
    HTTPRoute("GET", "/K") { _ in .text("K") },
    HTTPRoute("GET", "/fail") { _ in throw Secret() },
    HTTPRoute("GET", "/busy") { _ in throw HTTPProblem(429, "Too \"many\".", retryAfter: 7) },
    HTTPRoute("GET", "/split") { _ in
      HTTPResponse(status: 200, headers: HTTPHeaders([.init("X-Name", "a\r\nSet-Cookie: b")]))
    },
    HTTPRoute(
      "POST", "/guarded",
      admit: { head in
        guard head.headers["authorization"] == "Bearer good" else {
          throw HTTPProblem(401, "No token.", headers: HTTPHeaders([.init("WWW-Authenticate", "Bearer")]))
        }
      }, handler: { request in .text(String(request.body.count)) }),
  ]

  init(
    _ routes: [HTTPRoute] = standard, threads: Int = 2, _ adjust: (inout HTTPLimits) -> Void = { _ in }
  ) throws {
    var limits = HTTPLimits()
    limits.bodyBytes = 1_000
    adjust(&limits)
    let events = events
    server = try HTTPServer.start(threads: threads, limits: limits, routes: HTTPRoutes(routes)) { events.add($0) }
  }

  func client() throws -> RawClient { try RawClient(port: server.port) }

  /// One request on a connection of its own.
  func ask(_ request: String) throws -> RawClient.Response? {
    let client = try client()
    try client.send(request)
    return try client.response()
  }

  func get(_ target: String) throws -> RawClient.Response? {
    try ask("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
  }
}
