// SPDX-License-Identifier: Apache-2.0

import SkerryHTTP
import SkerryMachine
import Testing

/// Whatever answers, the transport gives a whole answer or an error, in bounded time and memory.
@Suite(.timeLimit(.minutes(1))) struct HostileServerTests {
  typealias Serve = @Sendable (Peer) -> Void

  static func error(
    _ option: WritableKeyPath<HTTPTransport.Options, Int> = \.responseBytes, _ value: Int = 16 << 20,
    _ serve: @escaping Serve
  ) async throws -> TransportError? {
    let server = try RawServer { peer in if peer.request() != nil { serve(peer) } }
    return await TransportFixture.error(try TransportFixture.make(server.port) { $0[keyPath: option] = value })
  }

  static func isBroken(_ error: TransportError?) -> Bool { if case .broken = error { true } else { false } }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n{\"a\"",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n0\r\n\r\n",
  ])
  func `an answer that is cut anywhere is no answer`(whole: String) async throws {
    let cuts = RawServer.Counter()
    let server = try RawServer { peer in
      if peer.request() != nil { peer.send(Array(whole.utf8.prefix(cuts.add() - 1))) }
    }
    let transport = try TransportFixture.make(server.port)
    // The line break that ends the chunked body's trailer is nobody's loss.
    let needed = whole.contains("chunked") ? whole.utf8.count - 2 : whole.utf8.count
    for count in 0..<needed {
      #expect(Self.isBroken(await TransportFixture.error(transport)), "\(count)")
    }
  }

  @Test(arguments: [
    "", "\r\n", "hello\n", "<html>login</html>", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 abc\r\n\r\n",
    "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "\0\0\0\0",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
    "HTTP/1.1 100 Continue\r\n\r\n",
  ])
  func `what is no HTTP is a broken connection`(bytes: String) async throws {
    #expect(Self.isBroken(try await Self.error { $0.send(bytes) }))
  }

  @Test func `an answer without an end is cut at the limit`() async throws {
    let chunked = try await Self.error(\.responseBytes, 1_000) { peer in
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      while peer.send("100\r\n" + String(repeating: "a", count: 256) + "\r\n") {}
    }
    #expect(chunked == .tooLarge(limit: 1_000))
    let toTheEnd = try await Self.error(\.responseBytes, 1_000) { peer in
      peer.send("HTTP/1.1 200 OK\r\n\r\n")
      while peer.send(String(repeating: "a", count: 256)) {}
    }
    #expect(toTheEnd == .tooLarge(limit: 1_000))
    let announced = try await Self.error(\.responseBytes, 1_000) { peer in
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")
      peer.waitForEnd()
    }
    #expect(announced == .tooLarge(limit: 1_000))
    #expect(try await Self.error(\.responseBytes, 1_000) { $0.answer(String(repeating: "a", count: 1_000)) } == nil)
  }

  @Test func `headers without an end are cut`() async throws {
    let error = try await Self.error { peer in
      peer.send("HTTP/1.1 200 OK\r\n")
      while peer.send("X: " + String(repeating: "a", count: 1_000) + "\r\n") {}
    }
    #expect(Self.isBroken(error))
  }

  @Test func `each part of an exchange has its own time`() async throws {
    let silent = try await Self.error(\.firstByte, 50) { $0.waitForEnd() }
    #expect(silent == .timedOut("first byte"))
    let standing = try await Self.error(\.idle, 50) { peer in
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
      peer.waitForEnd()
    }
    #expect(standing == .timedOut("idle"))
    let interim = try await Self.error(\.firstByte, 50) { peer in
      while peer.send("HTTP/1.1 102 Processing\r\n\r\n") {}
    }
    #expect(interim == .timedOut("first byte") || Self.isBroken(interim))
    let dripping = try await Self.error(\.total, 100) { peer in
      peer.send("HTTP/1.1 200 OK\r\n\r\n")
      while peer.send("a") {}
    }
    #expect(dripping == .timedOut("total") || dripping == .tooLarge(limit: 16 << 20))
  }

  @Test func `an encryption that does not come about has the time of the connection`() async throws {
    let server = try RawServer { $0.waitForEnd() }
    let transport = try TransportFixture.make(server.port, scheme: "https") { $0.connect = 50 }
    #expect(await TransportFixture.error(transport) == .timedOut("connect"))
  }

  @Test func `a server without encryption is not spoken to in the clear`() async throws {
    let server = try RawServer { peer in
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      peer.waitForEnd()
    }
    let error = await TransportFixture.error(try TransportFixture.make(server.port, scheme: "https"))
    guard case .unreachable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `nobody there is unreachable`() async throws {
    let port = try RawServer { _ in }.port  // closed again
    let error = await TransportFixture.error(try TransportFixture.make(port))
    guard case .unreachable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(arguments: ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
  func `a redirect is an answer, and nobody goes there`(status: String) async throws {
    let other = try RawServer { _ in }
    let server = try RawServer { [port = other.port] peer in
      if peer.request() != nil { peer.answer("", status: status, fields: "Location: http://127.0.0.1:\(port)/\r\n") }
    }
    let response = try await TransportFixture.make(server.port).exchange(TransportFixture.request)
    #expect(response.status == Int(status.prefix(3)))
    #expect(response.contentType == nil)
    #expect(other.connections == 0)
    #expect(server.connections == 1)
  }

  @Test func `a login page is handed on as what it is`() async throws {
    let server = try RawServer { peer in
      if peer.request() != nil {
        peer.answer("<html>Welcome</html>", fields: "Content-Type: Text/HTML; charset=\"a;b\"\r\nSet-Cookie: a=b\r\n")
      }
    }
    let transport = try TransportFixture.make(server.port)
    for _ in 0..<2 {
      let response = try await transport.exchange(TransportFixture.request)
      #expect(
        response
          == TransportResponse(
            status: 200, contentType: "text/html", body: Array("<html>Welcome</html>".utf8)))
    }
  }

  @Test func `nothing is unpacked, and no cookie comes back`() async throws {
    let server = try RawServer { peer in
      while let request = peer.request() {
        let cookie = request.value("Cookie") ?? "none"
        let asked = request.value("Accept-Encoding") ?? "none"
        peer.answer("\(cookie) \(asked)", fields: "Content-Encoding: gzip\r\nSet-Cookie: a=b\r\n")
      }
    }
    let transport = try TransportFixture.make(server.port)
    for _ in 0..<2 { #expect(try await transport.exchange(TransportFixture.request).text == "none none") }
  }

  @Test func `advice to wait is read`() async throws {
    let server = try RawServer { peer in
      if peer.request() != nil {
        peer.answer("", status: "503 Service Unavailable", fields: "retry-after: Sun, 06 Nov 1994 08:49:39 GMT\r\n")
      }
    }
    let response = try await TransportFixture.make(server.port).exchange(TransportFixture.request)
    #expect(response.status == 503)
    #expect(response.retryAfter == 2_000)
  }
}
