// SPDX-License-Identifier: Apache-2.0

import SkerryHTTPKit
import SkerryModel
import SkerryServerCore
import SkerryTokenKit

/// Finds out who asks.
struct TokenGate: Sendable {
  let tokens: TokenCache
  let now: @Sendable () -> Int64

  /// The account of the request's bearer token.
  ///
  /// - Throws: an `HTTPProblem` with status 401, which says no more about the token than RFC 6750 asks for.
  func account(_ head: HTTPHead) throws -> AccountID {
    let values = head.headers.values("Authorization")
    let prefix = "Bearer "
    guard values.count == 1, let value = values.first, value.lowercased().hasPrefix(prefix.lowercased()) else {
      throw refusal("A bearer token is needed, in one Authorization header.", error: nil)
    }
    do {
      return AccountID(try tokens.verify(String(value.dropFirst(prefix.count)), now: now()).subject)
    } catch {
      throw refusal(error.description, error: "invalid_token")
    }
  }

  private func refusal(_ detail: String, error: String?) -> HTTPProblem {
    let challenge = "Bearer realm=\"skerry\"" + (error.map { ", error=\"\($0)\"" } ?? "")
    return HTTPProblem(401, detail, headers: HTTPHeaders([.init("WWW-Authenticate", challenge)]))
  }
}

/// The server's paths.
struct Routes: Sendable {
  let endpoint: Endpoint
  let gate: TokenGate
  let onPushed: (@Sendable () -> Void)?

  /// A push waits for its turn with the database's one writer, so it waits aside; a pull does not, and is answered at once.
  var all: HTTPRoutes {
    HTTPRoutes(
      [HTTPRoute("GET", "/healthz") { _ in .text("ok\n") }]
        + Endpoint.Path.allCases.map { path in
          HTTPRoute(
            "POST", path.rawValue, runsAside: path == .push, admit: { try admit($0) }, handler: { try answer($0, path) }
          )
        })
  }

  /// Asked before the body is read, so that a stranger's body is not.
  private func admit(_ head: HTTPHead) throws {
    _ = try gate.account(head)
    let types = head.headers.values("Content-Type")
    let essence = types.first?.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    guard types.count == 1, essence == "application/json" else {
      throw HTTPProblem(415, "The body is to be application/json.")
    }
  }

  private func answer(_ request: HTTPRequest, _ path: Endpoint.Path) throws -> HTTPResponse {
    let answer = endpoint.respond(to: path, body: request.body, as: try gate.account(request.head))
    if path == .push { onPushed?() }
    var headers = HTTPHeaders()
    if let seconds = answer.retryAfter { headers.append("Retry-After", String(seconds)) }
    return HTTPResponse(status: answer.status, headers: headers, contentType: answer.contentType, body: answer.body)
  }
}
