// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryMachine
import SkerryTransport
import Synchronization
import Testing

@testable import SkerryURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What the transport over `URLSession` decides by itself, without a session.
@Suite struct SessionTests {
  static func reception(toSend: Int = 5, _ adjust: (inout HTTPTransportOptions) -> Void = { _ in }) -> Reception {
    var options = HTTPTransportOptions()
    (options.connect, options.firstByte, options.idle, options.responseBytes) = (10, 20, 30, 8)
    adjust(&options)
    var reception = Reception(bytesToSend: toSend, options: options)
    reception.begin()
    return reception
  }

  static func response(_ fields: [String: String], status: Int = 200) throws -> HTTPURLResponse {
    let url = try #require(URL(string: "http://127.0.0.1/"))
    return try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields))
  }

  @Test func `each part of an exchange is waited for in its own time`() throws {
    var reception = Self.reception()
    #expect(reception.due == .init(phase: "connect", milliseconds: 10))
    reception.sent(2)
    #expect(reception.due == .init(phase: "idle", milliseconds: 30))
    reception.sent(5)
    #expect(reception.due == .init(phase: "first byte", milliseconds: 20))
    try reception.began(Self.response([:]))
    #expect(reception.due == .init(phase: "idle", milliseconds: 30))
    reception.sent(5)
    #expect(reception.due == .init(phase: "idle", milliseconds: 30))
    #expect(Self.reception(toSend: 0).due == .init(phase: "first byte", milliseconds: 30))
  }

  @Test(arguments: [0, 3, 5])
  func `a body that is shorter or longer than announced is no answer`(count: Int) throws {
    var reception = Self.reception()
    try reception.began(Self.response(["Content-Length": "4", "Retry-After": "7"]))
    try reception.take(Data(repeating: 97, count: count))
    #expect(reception.outcome(nil) == .failure(.broken("the body was cut off")))
  }

  @Test func `a length that says nothing of the body is not held against it`() throws {
    for (fields, status) in [
      (["Content-Length": "8", "Content-Encoding": "gzip"], 200), (["Content-Length": "8"], 204),
      (["Content-Length": "8"], 302), (["Content-Length": "3", "Content-Encoding": "Identity"], 200), ([:], 200),
    ] {
      var reception = Self.reception()
      try reception.began(Self.response(fields, status: status))
      try reception.take(Data("abc".utf8))
      #expect(throws: Never.self) { try reception.outcome(nil).get() }
    }
  }

  @Test func `what is too long is refused, when it is announced or when it comes`() throws {
    var announced = Self.reception()
    #expect(throws: TransportError.tooLarge(limit: 8)) { try announced.began(Self.response(["Content-Length": "9"])) }
    var coming = Self.reception()
    try coming.began(Self.response([:]))
    try coming.take(Data(repeating: 97, count: 8))
    #expect(throws: TransportError.tooLarge(limit: 8)) { try coming.take(Data([97])) }
    #expect(Self.reception().outcome(nil) == .failure(.broken("the connection ended before an answer")))
  }

  @Test(
    arguments: [
      (.notConnectedToInternet, "first byte", .unreachable("code -1009")),
      (.cannotFindHost, "connect", .unreachable("code -1003")),
      (.serverCertificateUntrusted, "connect", .unreachable("code -1202")),
      (.networkConnectionLost, "connect", .unreachable("code -1005")),
      (.networkConnectionLost, "idle", .broken("code -1005")),
      (.cannotParseResponse, "first byte", .broken("code -1017")), (.timedOut, "idle", .timedOut("idle")),
      (.cancelled, "idle", .broken("the session was ended")),
    ] as [(URLError.Code, String, TransportError)])
  func `the session's errors are told by what they mean`(code: URLError.Code, phase: String, error: TransportError) {
    #expect(TransportError(URLError(code), phase: phase) == error)
    #expect(TransportError(CancellationError(), phase: phase) == .broken("the session failed"))
  }

  @Test func `a turnstile lets in as many as it has places, in order, and passes over who has gone`() {
    let log = Mutex<[Int]>([])
    let turnstile = Turnstile(places: 2)
    for number in 0..<6 {
      turnstile.enter {
        log.withLock { $0.append(number) }
        return number != 2 && number != 3
      }
    }
    #expect(log.withLock { $0 } == [0, 1])
    turnstile.left()
    #expect(log.withLock { $0 } == [0, 1, 2, 3, 4])
    for _ in 0..<3 { turnstile.left() }
    #expect(log.withLock { $0 } == [0, 1, 2, 3, 4, 5])
    turnstile.enter {
      log.withLock { $0.append(6) }
      return false
    }
    #expect(log.withLock { $0.last } == 6)
  }
}
