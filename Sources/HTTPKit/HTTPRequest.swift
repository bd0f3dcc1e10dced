// SPDX-License-Identifier: Apache-2.0

/// What is known of a request before its body: enough to refuse it.
package struct HTTPHead: Hashable, Sendable {
  /// As it came; methods are case-sensitive.
  package var method: String
  /// Percent-decoded once, valid UTF-8, without empty, `.` or `..` segments.
  package var path: String
  /// What stood behind the `?`, undecoded; nil without one.
  package var query: String?
  package var headers: HTTPHeaders

  package init(method: String, path: String, query: String? = nil, headers: HTTPHeaders = HTTPHeaders()) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
  }
}

/// A whole request, its body within the limit.
package struct HTTPRequest: Hashable, Sendable {
  package var head: HTTPHead
  package var body: [UInt8]

  package var method: String { head.method }
  package var path: String { head.path }
  package var query: String? { head.query }
  package var headers: HTTPHeaders { head.headers }

  package init(head: HTTPHead, body: [UInt8] = []) {
    self.head = head
    self.body = body
  }
}
