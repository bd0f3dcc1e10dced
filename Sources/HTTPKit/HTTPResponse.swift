// SPDX-License-Identifier: Apache-2.0

/// An answer. The server adds `Cache-Control: no-store`, `Date`, `Content-Length` and, where it must, `Connection: close`.
package struct HTTPResponse: Hashable, Sendable {
  /// Three digits, 200 or more.
  package var status: Int
  /// Further fields. One that the library refuses (a line break in it) turns the answer into a 500.
  package var headers: HTTPHeaders
  package var contentType: String?
  package var body: [UInt8]

  package init(status: Int, headers: HTTPHeaders = HTTPHeaders(), contentType: String? = nil, body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.contentType = contentType
    self.body = body
  }

  /// A text, for people and for `curl`.
  package static func text(_ text: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
  }

  /// All field lines but those that the library itself writes.
  var lines: [HTTPHeaders.Field] {
    var lines = [HTTPHeaders.Field("Cache-Control", "no-store")]
    if let contentType { lines.append(HTTPHeaders.Field("Content-Type", contentType)) }
    return lines + headers.fields
  }
}
