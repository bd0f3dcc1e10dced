// SPDX-License-Identifier: Apache-2.0

import SkerryCurlKit
public import SkerryMachine
import SkerryModel

/// Carries messages to a server over HTTP/1.1 and libcurl, with a bearer token.
///
/// It follows no redirect, unpacks nothing, sends no cookie, and gives each part of an exchange its own time limit. Whatever
/// answers is handed on as it is: a login page of a hotel is a 200 with `text/html`, and judging that is the machine's work.
/// Connections stay open between exchanges. It may be used from any task.
///
/// Proxies named in the environment (`https_proxy`, `no_proxy`) are used, except for the loopback addresses.
public final class HTTPTransport: Transport {
  /// What one transport may take.
  public struct Options: Hashable, Sendable {
    /// How long a connection may take to stand, with its encryption; in milliseconds, as all of these.
    public var connect = 10_000
    /// How long the server may take from the last byte sent to the first one of its answer.
    public var firstByte = 30_000
    /// How long a body may stand still, in either direction.
    public var idle = 15_000
    /// How long a whole exchange may take.
    public var total = 120_000
    /// The bytes of an answer. A longer one is cut off and fails.
    public var responseBytes = Limits.messageBytes
    /// How many exchanges may be under way at one time; further ones wait.
    public var connections = 4
    /// Whether the token may travel to other machines unencrypted. It may always to this one.
    public var allowsPlainHTTP = false

    /// The defaults: patient enough for a bad mobile network.
    public init() {}
  }

  private let base: CurlURL
  private let limits: CurlLimits
  private let pool: CurlPool
  private let now: @Sendable () -> Int64
  private let token: @Sendable () async throws -> String

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
    self.now = now
    self.token = token
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
    let fields = [
      CurlField("Authorization", "Bearer " + (try await bearer())), CurlField("Content-Type", request.contentType),
      CurlField("Accept", request.contentType + ", application/problem+json"),
    ]
    let response = try await send(CurlRequest(url: url, fields: fields, body: request.body))
    return TransportResponse(
      status: response.status, contentType: response["content-type"].flatMap(MediaType.essence),
      retryAfter: response["retry-after"].flatMap { RetryAfter.milliseconds($0, now: now()) }, body: response.body)
  }

  private func send(_ request: CurlRequest) async throws(TransportError) -> CurlResponse {
    do { return try await pool.perform(request, limits: limits) } catch { throw TransportError(error) }
  }

  /// The source's own error does not go on: its text may hold a secret.
  private func bearer() async throws(TransportError) -> String {
    let given: String
    do { given = try await token() } catch let error as TransportError { throw error } catch {
      throw Task.isCancelled || error is CancellationError ? .cancelled : .unreachable("there is no token to send")
    }
    // RFC 6750, section 2.1. Anything else could end the header line.
    guard !given.isEmpty, given.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw .unreachable("the token is malformed")
    }
    return given
  }
}

/// Why a transport cannot be made.
public enum HTTPTransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No address of HTTP, or one with a user, a password, a query or a fragment.
  case badAddress
  /// Plain HTTP to another machine would show the token and the data to everybody on the way.
  case unencrypted

  /// What is wrong and what to do, in a sentence.
  public var description: String {
    switch self {
    case .badAddress: "the server's address must be like https://sync.example.org, without user, query and fragment"
    case .unencrypted: "the server's address must begin with https, or plain HTTP be allowed by its option"
    }
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
