// SPDX-License-Identifier: Apache-2.0

import CSkerryCurl

/// Why no whole response came. No case holds a header or a body.
package enum CurlError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The request cannot be sent as it is: a bad address, or a line break in a header field.
  case badRequest(String)
  /// No connection, a name that does not resolve, a certificate that does not hold.
  case unreachable(String)
  /// A limit of `CurlLimits` passed.
  case timedOut(CurlPhase)
  /// The connection broke, or what came was no HTTP.
  case broken(String)
  /// The body is longer than this many bytes.
  case tooLarge(limit: Int)
  case cancelled

  package var description: String {
    switch self {
    case .badRequest(let reason): "the request cannot be sent: \(reason)"
    case .unreachable(let reason): "no connection: \(reason)"
    case .timedOut(let phase): "out of time: \(phase.rawValue)"
    case .broken(let reason): "the connection broke: \(reason)"
    case .tooLarge(let limit): "the response is longer than \(limit) bytes"
    case .cancelled: "cancelled"
    }
  }

  /// What libcurl's code means to a caller. The text is libcurl's own for the code, without names or addresses.
  init(_ code: CURLcode, phase: CurlPhase, limit: Int) {
    let text = String(cString: curl_easy_strerror(code))
    switch code {
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR,
      CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      self = .unreachable(text)
    case CURLE_URL_MALFORMAT: self = .badRequest(text)
    case CURLE_OPERATION_TIMEDOUT: self = .timedOut(phase)
    case CURLE_FILESIZE_EXCEEDED: self = .tooLarge(limit: limit)
    default: self = .broken(text)
    }
  }
}
