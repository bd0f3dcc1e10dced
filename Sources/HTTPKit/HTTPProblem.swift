// SPDX-License-Identifier: Apache-2.0

/// A refusal as problem details (RFC 9457). A handler throws one to answer with it.
///
/// `title` and `detail` go to a stranger: they name what was wrong with the request, never what the server holds.
package struct HTTPProblem: Error, Hashable, Sendable {
  package var status: Int
  /// A URI that names the kind of problem; `about:blank` if the status says it all.
  package var type: String
  /// The same for each problem of this kind.
  package var title: String
  /// What was wrong this time, and what to do.
  package var detail: String
  /// The wait to advise, in seconds, as `Retry-After`; nil for no advice.
  package var retryAfter: Int?
  /// Further fields, such as `WWW-Authenticate` with a 401.
  package var headers: HTTPHeaders

  /// A problem whose title is the status's own phrase, unless another is given.
  package init(
    _ status: Int, _ detail: String, type: String = "about:blank", title: String? = nil, retryAfter: Int? = nil,
    headers: HTTPHeaders = HTTPHeaders()
  ) {
    self.status = status
    self.type = type
    self.title = title ?? HTTPStatus.phrase(status)
    self.detail = detail
    self.retryAfter = retryAfter
    self.headers = headers
  }

  /// The problem as an answer.
  package var response: HTTPResponse {
    var fields = headers
    if let retryAfter { fields.append("Retry-After", String(retryAfter)) }
    return HTTPResponse(status: status, headers: fields, contentType: "application/problem+json", body: json)
  }

  private var json: [UInt8] {
    var text = "{\"type\":"
    text += HTTPProblem.quoted(type)
    text += ",\"title\":" + HTTPProblem.quoted(title)
    text += ",\"status\":\(status)"
    text += ",\"detail\":" + HTTPProblem.quoted(detail) + "}\n"
    return Array(text.utf8)
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\u{0}"..."\u{1F}":
        let hex = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

extension HTTPProblem {
  /// What a request gets when its handler failed: nothing of the failure.
  static let failure = HTTPProblem(500, "The server failed to carry out this request. Trying again later may help.")
  static let crowded = HTTPProblem(503, "The server has as many bodies under way as it can hold.", retryAfter: 1)
  static let stopping = HTTPProblem(503, "The server is stopping.", retryAfter: 1)
  static func tooLarge(_ limit: Int) -> HTTPProblem {
    HTTPProblem(413, "The body is longer than \(limit) bytes.")
  }
}
