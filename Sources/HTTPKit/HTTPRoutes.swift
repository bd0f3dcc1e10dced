// SPDX-License-Identifier: Apache-2.0

/// Answers a request. It runs on the thread of its connection, which serves its other connections only afterwards, unless
/// its route says that it runs aside.
/// A thrown `HTTPProblem` is the answer; any other error gives a 500 that says nothing of it.
package typealias HTTPHandler = @Sendable (HTTPRequest) throws -> HTTPResponse

/// One method on one path.
package struct HTTPRoute: Sendable {
  package var method: String
  package var path: String
  /// A limit for this route's bodies in place of the server's.
  package var bodyBytes: Int?
  /// Whether a query is handed on; otherwise one is refused, since secrets that people put there end up in logs.
  package var takesQuery: Bool
  /// Whether the handler may wait for others: it then runs on a thread aside, its connection is suspended, and nobody else
  /// waits with it. That costs about as much as the rest of a small request.
  package var runsAside: Bool
  /// Asked before the body is read; throws an `HTTPProblem` to refuse it unread.
  package var admit: (@Sendable (HTTPHead) throws -> Void)?
  package var handler: HTTPHandler

  package init(
    _ method: String, _ path: String, bodyBytes: Int? = nil, takesQuery: Bool = false, runsAside: Bool = false,
    admit: (@Sendable (HTTPHead) throws -> Void)? = nil, handler: @escaping HTTPHandler
  ) {
    self.method = method
    self.path = path
    self.bodyBytes = bodyBytes
    self.takesQuery = takesQuery
    self.runsAside = runsAside
    self.admit = admit
    self.handler = handler
  }
}

/// All routes of a server. Methods and paths are compared by bytes; `HEAD` is served by the route for `GET`.
package struct HTTPRoutes: Sendable {
  private let routes: [HTTPRoute]

  package init(_ routes: [HTTPRoute]) { self.routes = routes }

  func match(_ head: HTTPHead) throws(HTTPProblem) -> HTTPRoute {
    let onPath = routes.filter { $0.path.utf8.elementsEqual(head.path.utf8) }
    guard !onPath.isEmpty else { throw HTTPProblem(404, "There is nothing at this path.") }
    guard let route = onPath.first(where: { HTTPRoutes.serves($0.method, head.method) }) else {
      throw HTTPRoutes.wrongMethod(allowed: onPath)
    }
    guard head.query == nil || route.takesQuery else { throw HTTPProblem(400, "This path takes no query.") }
    return route
  }

  /// `CONNECT` and `TRACE` have no path to look up: they are answered with what the server as a whole allows.
  func refuse(_ method: String) throws(HTTPProblem) {
    if HTTPRoutes.same(method, "CONNECT") || HTTPRoutes.same(method, "TRACE") {
      throw HTTPRoutes.wrongMethod(allowed: routes)
    }
  }

  private static func wrongMethod(allowed routes: [HTTPRoute]) -> HTTPProblem {
    var methods = Set(routes.map(\.method))
    if methods.contains("GET") { methods.insert("HEAD") }
    let list = methods.sorted().joined(separator: ", ")
    return HTTPProblem(
      405, "This method is not allowed here. Allowed: \(list).", headers: HTTPHeaders([.init("Allow", list)]))
  }

  private static func serves(_ offered: String, _ asked: String) -> Bool {
    same(offered, asked) || same(offered, "GET") && same(asked, "HEAD")
  }

  private static func same(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}
