// SPDX-License-Identifier: Apache-2.0

/// What a response, or its absence, means. Nothing here ever drops a mutation: only a verdict or a receipt ends one.
package enum Answer: Hashable, Sendable {
  /// A body of ours, to be decoded.
  case body([UInt8])
  /// Nobody answered: offline, time-out, broken connection.
  case unreachable
  /// Something answered, and it was no judgement: 5xx, 429, a page of HTML, an empty or foreign body.
  case transient(status: Int, retryAfter: Int64?)
  /// The token is missing, expired or not accepted.
  case needsAuthentication
  /// The request is longer than the server takes, or than something on the way does.
  case tooLarge(isOurs: Bool)
  /// The device's schema, protocol or account does not fit the server's: it takes a person to change that.
  case refused(status: Int)

  /// Judges a response by status and media type, never by its text: a captive portal answers 200 with a page of its own.
  package init(_ response: TransportResponse) {
    let isProblem = response.contentType == "application/problem+json"
    switch (response.status, isProblem) {
    case (200, _) where response.contentType == "application/json": self = .body(response.body)
    case (401, true): self = .needsAuthentication
    case (413, _): self = .tooLarge(isOurs: isProblem)
    case (403, true), (409, true), (426, true): self = .refused(status: response.status)
    default: self = .transient(status: response.status, retryAfter: response.retryAfter)
    }
  }

  package init(_ error: TransportError) {
    switch error {
    case .unreachable, .cancelled, .timedOut, .broken: self = .unreachable
    case .tooLarge: self = .transient(status: 0, retryAfter: nil)
    }
  }
}
