// SPDX-License-Identifier: Apache-2.0

import SkerryCurlKit
public import SkerryMachine
public import SkerryTransport

/// Carries messages to a server over HTTP/1.1 and libcurl, with a bearer token.
///
/// It follows no redirect, unpacks nothing, sends no cookie, and gives each part of an exchange its own time limit. Whatever
/// answers is handed on as it is: a login page of a hotel is a 200 with `text/html`, and judging that is the machine's work.
/// Connections stay open between exchanges. It may be used from any task.
///
/// Proxies named in the environment (`https_proxy`, `no_proxy`) are used, except for the loopback addresses.
public final class HTTPTransport: Transport {
  /// What one transport may take.
  public typealias Options = HTTPTransportOptions

  private let base: CurlURL
  private let limits: CurlLimits
  private let pool: CurlPool
  private let form: HTTPForm

  /// - Parameters:
  ///   - baseURL: Such as `https://sync.example.org`; a path before `/v1` is kept. It has no user, query or fragment.
  ///   - options: Time limits and sizes.
  ///   - now: The time in milliseconds since 1970, to read a date in `Retry-After` by.
  ///   - token: Gives the bearer token, for each exchange anew; it renews it when it must.
  /// - Throws: `HTTPTransportError` if nothing can or may be sent to this address.
  public init(
    baseURL: String, options: Options = Options(), now: @escaping @Sendable () -> Int64,
    token: @escaping @Sendable () async throws -> String
  ) throws(HTTPTransportError) {
    guard let base = CurlURL(baseURL) else { throw .badAddress }
    guard base.scheme == "https" || base.isLoopback || options.allowsPlainHTTP else { throw .unencrypted }
    self.base = base
    form = HTTPForm(now: now, token: token)
    limits = CurlLimits(
      connect: options.connect, firstByte: options.firstByte, idle: options.idle, total: options.total,
      responseBytes: options.responseBytes)
    pool = CurlPool(size: options.connections)
  }

  /// Posts the message and waits for an answer, whatever it is.
  ///
  /// A cancelled task gets its error at once; the server may have carried out the request all the same.
  ///
  /// - Throws: `TransportError`.
  public func exchange(_ request: TransportRequest) async throws -> TransportResponse {
    guard let url = base.appending(request.path) else { throw TransportError.unreachable("the path is malformed") }
    let fields = try await form.fields(for: request).map { CurlField($0.name, $0.value) }
    let response = try await send(CurlRequest(url: url, fields: fields, body: request.body))
    return form.response(
      status: response.status, contentType: response["content-type"], retryAfter: response["retry-after"],
      body: response.body)
  }

  private func send(_ request: CurlRequest) async throws(TransportError) -> CurlResponse {
    do { return try await pool.perform(request, limits: limits) } catch { throw TransportError(error) }
  }
}

extension TransportError {
  init(_ error: CurlError) {
    self =
      switch error {
      case .badRequest(let reason), .unreachable(let reason): .unreachable(reason)
      case .timedOut(let phase): .timedOut(phase.rawValue)
      case .broken(let reason): .broken(reason)
      case .tooLarge(let limit): .tooLarge(limit: limit)
      case .cancelled: .cancelled
      }
  }
}
