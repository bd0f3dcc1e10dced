// SPDX-License-Identifier: Apache-2.0

/// How long the body will be, judged from the header fields alone. Whatever two readers could frame differently is
/// refused and its connection closed, so that no body can hide a second request (RFC 9112, sections 6 and 11.2).
enum RequestFraming: Hashable {
  case none
  case length(UInt64)
  case chunked

  init(_ headers: HTTPHeaders, method: String, version: String, limits: HTTPLimits) throws(HTTPProblem) {
    try RequestFraming.checkFields(headers, limits: limits)
    guard !method.isEmpty, method.utf8.allSatisfy(RequestFraming.isToken) else {
      throw HTTPProblem(400, "The method is malformed.")
    }
    let hosts = headers.values("Host").count
    guard hosts == 1 || hosts == 0 && version == "HTTP/1.0" else {
      throw HTTPProblem(400, "A request names its host once.")
    }
    let lengths = headers.values("Content-Length")
    let codings = headers.values("Transfer-Encoding")
    switch (lengths.count, codings.count) {
    case (0, 0): self = .none
    case (1, 0): self = try RequestFraming.length(lengths[0])
    case (0, 1):
      guard HTTPHeaders.equal(codings[0], "chunked"), version != "HTTP/1.0" else {
        throw HTTPProblem(400, "The only transfer coding here is chunked.")
      }
      self = .chunked
    default: throw HTTPProblem(400, "A request gives the length of its body once.")
    }
  }

  private static func length(_ text: String) throws(HTTPProblem) -> RequestFraming {
    guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = UInt64(text) else {
      throw HTTPProblem(400, "The length of the body is malformed.")
    }
    return length == 0 ? .none : .length(length)
  }

  private static func checkFields(_ headers: HTTPHeaders, limits: HTTPLimits) throws(HTTPProblem) {
    guard headers.fields.count <= limits.headerCount else {
      throw HTTPProblem(431, "There are more than \(limits.headerCount) header fields.")
    }
    var bytes = 0
    for field in headers.fields {
      bytes += field.name.utf8.count + field.value.utf8.count
      let isNamed = !field.name.isEmpty && field.name.utf8.allSatisfy(isToken)
      guard isNamed, !field.value.utf8.contains(where: isControl) else {
        throw HTTPProblem(400, "A header field is malformed.")
      }
    }
    guard bytes <= limits.headerBytes else {
      throw HTTPProblem(431, "The header fields are longer than \(limits.headerBytes) bytes.")
    }
  }

  private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }

  /// RFC 9110, section 5.6.2.
  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
