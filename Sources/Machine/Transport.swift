// SPDX-License-Identifier: Apache-2.0

/// A message to the server: a path below its base address, and a body.
public struct TransportRequest: Hashable, Sendable {
  /// Such as `/v1/push`.
  public var path: String
  /// The body's media type.
  public var contentType: String
  /// The body.
  public var body: [UInt8]

  /// A message to the server.
  public init(path: String, contentType: String, body: [UInt8]) {
    self.path = path
    self.contentType = contentType
    self.body = body
  }
}

/// What came back, whatever it is: judging it is the machine's work.
public struct TransportResponse: Hashable, Sendable {
  /// The HTTP status.
  public var status: Int
  /// The body's media type, without parameters; nil if none was given.
  public var contentType: String?
  /// The wait that the server asked for, in milliseconds; nil if it asked for none.
  public var retryAfter: Int64?
  /// The body, at most as long as the transport's limit.
  public var body: [UInt8]

  /// What came back.
  public init(status: Int, contentType: String?, retryAfter: Int64? = nil, body: [UInt8]) {
    self.status = status
    self.contentType = contentType
    self.retryAfter = retryAfter
    self.body = body
  }
}

/// Why no whole response came back. In each case the request may have been carried out all the same.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No connection: offline, refused, a name that does not resolve, a certificate that does not hold.
  case unreachable(String)
  /// A time limit passed; the text names which.
  case timedOut(String)
  /// The connection broke, or what came was no HTTP.
  case broken(String)
  /// The response is longer than the limit, in bytes.
  case tooLarge(limit: Int)
  /// The caller cancelled.
  case cancelled

  /// What happened, in a sentence.
  public var description: String {
    switch self {
    case .unreachable(let reason): "the server cannot be reached: \(reason)"
    case .timedOut(let phase): "the server did not answer in time (\(phase))"
    case .broken(let reason): "the connection broke: \(reason)"
    case .tooLarge(let limit): "the answer is longer than \(limit) bytes"
    case .cancelled: "cancelled"
    }
  }
}

/// Carries bytes to the server and back: the one seam between Skerry and a network.
///
/// An implementation adds what the server needs to know who asks (a bearer token), follows no redirect to another host,
/// caps the response, and answers a cancelled task at once with `TransportError.cancelled`.
public protocol Transport: Sendable {
  /// Sends one request and waits for its response.
  ///
  /// - Throws: `TransportError`.
  func exchange(_ request: TransportRequest) async throws -> TransportResponse
}
