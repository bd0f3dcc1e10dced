// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryMachine
import SkerryTransport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A whole answer, before anybody judges it.
struct SessionAnswer: Hashable, Sendable {
  var status: Int
  var contentType: String?
  var retryAfter: String?
  var body: [UInt8] = []
}

/// What came of an exchange so far, as a value: bounded while it comes in, and it says what must happen next, and when.
struct Reception: Sendable {
  /// What is waited for, and for how long at most from now.
  struct Due: Hashable, Sendable {
    var phase: String
    var milliseconds: Int
  }

  private(set) var due: Due?
  private let toSend: Int
  private let options: HTTPTransportOptions
  private var answer: SessionAnswer?
  /// How long the body will be; nil if nothing reliable says so.
  private var announced: Int?

  init(bytesToSend: Int, options: HTTPTransportOptions) {
    toSend = bytesToSend
    self.options = options
  }

  /// The session reports no connection as such: it stands when the first bytes are on their way. Where there are none to
  /// send, the next that is heard is the answer.
  mutating func begin() {
    due =
      toSend > 0
      ? Due(phase: "connect", milliseconds: options.connect)
      : Due(phase: "first byte", milliseconds: options.connect + options.firstByte)
  }

  mutating func sent(_ bytes: Int) {
    guard answer == nil else { return }
    due =
      bytes < toSend
      ? Due(phase: "idle", milliseconds: options.idle) : Due(phase: "first byte", milliseconds: options.firstByte)
  }

  mutating func began(_ response: URLResponse) throws(TransportError) {
    guard let response = response as? HTTPURLResponse else { throw .broken("what answered is no HTTP") }
    announced = Reception.length(response)
    if let announced, announced > options.responseBytes { throw .tooLarge(limit: options.responseBytes) }
    answer = SessionAnswer(
      status: response.statusCode, contentType: response.value(forHTTPHeaderField: "Content-Type"),
      retryAfter: response.value(forHTTPHeaderField: "Retry-After"))
    due = Due(phase: "idle", milliseconds: options.idle)
  }

  mutating func take(_ part: Data) throws(TransportError) {
    guard let count = answer?.body.count else { throw .broken("a body came without its head") }
    guard part.count <= options.responseBytes - count else { throw .tooLarge(limit: options.responseBytes) }
    for region in part.regions { region.withUnsafeBytes { answer?.body.append(contentsOf: $0) } }
  }

  func outcome(_ error: (any Error)?) -> Result<SessionAnswer, TransportError> {
    if let error { return .failure(TransportError(error, phase: due?.phase ?? "connect")) }
    guard let answer else { return .failure(.broken("the connection ended before an answer")) }
    // The session has been seen to take a body that was cut off for a whole one.
    if let announced, announced != answer.body.count { return .failure(.broken("the body was cut off")) }
    return .success(answer)
  }

  /// What was undone has another length than what was announced, and some answers have none at all.
  private static func length(_ response: HTTPURLResponse) -> Int? {
    let coding = response.value(forHTTPHeaderField: "Content-Encoding")
    guard response.expectedContentLength >= 0, coding == nil || coding?.lowercased() == "identity",
      response.statusCode != 204, !(300...399 ~= response.statusCode)
    else { return nil }
    return Int(response.expectedContentLength)
  }
}
