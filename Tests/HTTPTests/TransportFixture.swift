// SPDX-License-Identifier: Apache-2.0

import SkerryHTTP
import SkerryMachine
import Testing

/// A transport with short patience to a port of this machine.
enum TransportFixture {
  static func make(
    _ port: Int, scheme: String = "http", path: String = "",
    _ adjust: (inout HTTPTransport.Options) -> Void = { _ in },
    token: @escaping @Sendable () async throws -> String = { "good" }
  ) throws -> HTTPTransport {
    var options = HTTPTransport.Options()
    adjust(&options)
    return try HTTPTransport(
      baseURL: "\(scheme)://127.0.0.1:\(port)\(path)", options: options, now: { 784_111_777_000 }, token: token)
  }

  static let request = TransportRequest(path: "/v1/push", contentType: "application/json", body: Array("{}".utf8))

  /// What the exchange fails with; nil if it does not fail.
  static func error(_ transport: HTTPTransport, _ request: TransportRequest = request) async -> TransportError? {
    do {
      _ = try await transport.exchange(request)
      return nil
    } catch { return error as? TransportError }
  }
}

extension TransportResponse {
  var text: String { String(decoding: body, as: UTF8.self) }
}
