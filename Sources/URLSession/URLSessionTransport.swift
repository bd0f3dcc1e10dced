// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
public import SkerryMachine
public import SkerryTransport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Carries messages to a server over the system's `URLSession`, with a bearer token: the transport for Apple's systems,
/// where it brings the system's proxies, VPNs, certificates and radio behaviour, and links no further library.
///
/// As `HTTPTransport` does, it follows no redirect, keeps no cookie, cache or credential, gives each part of an exchange
/// its own time limit, and hands on whatever answers. Three things are the system's and not ours: it undoes a
/// `Content-Encoding` that nobody asked for (the limit then counts the bytes that come out), it bounds header fields only
/// by the time that they take, and a connection stands when the first byte of the message is on its way. Elsewhere than on
/// Apple's systems use `HTTPTransport`: what this one cannot meet there is in `docs/gotchas.md`.
///
/// It may be used from any task.
public final class URLSessionTransport: Transport {
  /// What one transport may take.
  public typealias Options = HTTPTransportOptions

  private let base: ServerAddress
  private let options: Options
  private let form: HTTPForm
  private let delegate = SessionDelegate()
  private let session: URLSession
  private let turnstile: Turnstile

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
    guard let base = ServerAddress(baseURL) else { throw .badAddress }
    guard base.isEncrypted || base.isLoopback || options.allowsPlainHTTP else { throw .unencrypted }
    self.base = base
    self.options = options
    form = HTTPForm(now: now, token: token)
    turnstile = Turnstile(places: options.connections)
    session = URLSession(
      configuration: .skerry(options, isLoopback: base.isLoopback), delegate: delegate, delegateQueue: .skerry())
  }

  /// The session holds its delegate, and itself, until it is told to end.
  deinit { session.invalidateAndCancel() }

  /// Posts the message and waits for an answer, whatever it is.
  ///
  /// A cancelled task gets its error at once; the server may have carried out the request all the same.
  ///
  /// - Throws: `TransportError`.
  public func exchange(_ request: TransportRequest) async throws -> TransportResponse {
    guard let address = base.appending(request.path) else {
      throw TransportError.unreachable("the path is malformed")
    }
    let fields = try await form.fields(for: request)
    let answer = try await perform(address, fields: fields, body: request.body)
    return form.response(
      status: answer.status, contentType: answer.contentType, retryAfter: answer.retryAfter, body: answer.body)
  }

  private func perform(
    _ address: ServerAddress, fields: [HTTPForm.Field], body: [UInt8]
  ) async throws(TransportError) -> SessionAnswer {
    let exchange = SessionExchange(bytesToSend: body.count, options: options)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        exchange.wait(waiter) { [turnstile] in turnstile.left() }
        turnstile.enter { [session, delegate] in
          exchange.start { delegate.task(in: session, URLRequest(address, fields), Data(body), for: exchange) }
        }
      }
    } onCancel: {
      exchange.finish(.failure(.cancelled))
    }
    return try result.get()
  }
}

extension URLSessionConfiguration {
  /// Nothing is kept between exchanges but connections, and all time limits are ours: the session's own lie behind them.
  fileprivate static func skerry(_ options: HTTPTransportOptions, isLoopback: Bool) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCredentialStorage = nil
    configuration.httpMaximumConnectionsPerHost = max(1, options.connections)
    let behind = Double(options.total) / 1_000 + 60
    configuration.timeoutIntervalForRequest = behind
    configuration.timeoutIntervalForResource = behind
    // A proxy cannot reach this machine, and would see the token that may travel unencrypted here.
    if isLoopback { configuration.connectionProxyDictionary = [:] }
    #if canImport(Darwin)
      configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
      configuration.waitsForConnectivity = false
    #endif
    return configuration
  }
}

extension OperationQueue {
  /// One for all transports, which only append what came. It lives as long as the program, since outside Apple's systems an
  /// operation queue does not hold the queue below it.
  private static let underlying = DispatchQueue(label: "skerry.urlsession")

  /// A queue with a thread of its own when it needs one. The queue that a session makes for itself shares the few threads of
  /// the cooperative pool, and hears nothing for as long as others hold these.
  fileprivate static func skerry() -> OperationQueue {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.underlyingQueue = underlying
    return queue
  }
}

extension URLRequest {
  fileprivate init(_ address: ServerAddress, _ fields: [HTTPForm.Field]) {
    self.init(url: address.url)
    httpMethod = "POST"
    httpShouldHandleCookies = false
    // The system asks for codings unless another answer to that question is given.
    setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    for field in fields { setValue(field.value, forHTTPHeaderField: field.name) }
  }
}
