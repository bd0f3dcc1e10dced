// SPDX-License-Identifier: Apache-2.0

import SkerryHTTP
import SkerryMachine
import SkerryTransport
import SkerryURLSession
import Testing

/// The transports that the contract is held against.
enum Library: String, CaseIterable, Codable, CustomTestStringConvertible, Sendable {
  case curl = "HTTPTransport"
  case urlSession = "URLSessionTransport"

  var testDescription: String { rawValue }

  func transport(
    _ baseURL: String, _ options: HTTPTransportOptions = HTTPTransportOptions(),
    token: @escaping @Sendable () async throws -> String = { "good" }
  ) throws(HTTPTransportError) -> any Transport {
    switch self {
    case .curl: try HTTPTransport(baseURL: baseURL, options: options, now: { 784_111_777_000 }, token: token)
    case .urlSession:
      try URLSessionTransport(baseURL: baseURL, options: options, now: { 784_111_777_000 }, token: token)
    }
  }

  /// A transport to a port of this machine. What is not tested has more patience than a busy machine needs.
  func transport(
    to port: Int, scheme: String = "http", path: String = "",
    _ adjust: (inout HTTPTransportOptions) -> Void = { _ in },
    token: @escaping @Sendable () async throws -> String = { "good" }
  ) throws -> any Transport {
    var options = HTTPTransportOptions()
    (options.connect, options.firstByte, options.idle) = (60_000, 60_000, 60_000)
    adjust(&options)
    return try transport("\(scheme)://127.0.0.1:\(port)\(path)", options, token: token)
  }
}

extension Transport {
  /// What the exchange fails with; nil if it does not fail.
  func error(_ request: TransportRequest = .push) async -> TransportError? {
    do {
      _ = try await exchange(request)
      return nil
    } catch { return error as? TransportError }
  }
}

extension TransportError {
  var isBroken: Bool { if case .broken = self { true } else { false } }
  var isUnreachable: Bool { if case .unreachable = self { true } else { false } }
}

extension TransportRequest {
  static let push = TransportRequest(path: "/v1/push", contentType: "application/json", body: Array("{}".utf8))

  static func text(_ text: String) -> TransportRequest {
    TransportRequest(path: "/x", contentType: "text/plain", body: Array(text.utf8))
  }
}

extension TransportResponse {
  var text: String { String(decoding: body, as: UTF8.self) }
}
