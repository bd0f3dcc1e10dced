// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import SkerryTransport
import Testing

/// Whatever answers, a transport gives a whole answer or an error, in bounded time and memory: the contract, over each
/// library.
@Suite(.timeLimit(.minutes(5))) struct HostileServerTests {
  typealias Serve = @Sendable (Peer) -> Void

  static func error(
    _ library: Library, _ option: WritableKeyPath<HTTPTransportOptions, Int> = \.responseBytes, _ value: Int = 16 << 20,
    _ serve: @escaping Serve
  ) async throws -> TransportError? {
    let server = try RawServer { peer in if peer.request() != nil { serve(peer) } }
    let transport = try library.transport(to: server.port) { $0[keyPath: option] = value }
    let error = await transport.error()
    return withExtendedLifetime(server) { error }
  }

  /// Sends beginnings of an answer, one connection each; the lengths with which one was taken for a whole answer.
  static func accepted(_ library: Library, _ whole: String, _ lengths: Range<Int>) async throws -> [Int] {
    let next = RawServer.Counter()
    let server = try RawServer { peer in
      if peer.request() != nil { peer.send(Array(whole.utf8.prefix(lengths.lowerBound + next.add() - 1))) }
    }
    let transport = try library.transport(to: server.port)
    var accepted: [Int] = []
    for length in lengths where await transport.error()?.isBroken != true { accepted.append(length) }
    return withExtendedLifetime(server) { accepted }
  }

  static let announced = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n{\"a\""
  static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n0\r\n\r\n"

  /// The bytes of the status line and of the whole head.
  static func parts(_ answer: String) -> (line: Int, head: Int) {
    let text = String(answer)
    let line = text.prefix { $0 != "\r\n" }.utf8.count + 2
    return (line, text.utf8.count - (text.split(separator: "\r\n\r\n", maxSplits: 1).last?.utf8.count ?? 0))
  }

  @Test(arguments: Library.allCases, [announced, chunked])
  func `an answer that is cut within its status line or its body is no answer`(
    library: Library, whole: String
  ) async throws {
    let (line, head) = Self.parts(whole)
    // The line break that ends the trailer is nobody's loss.
    let end = whole == Self.chunked ? whole.utf8.count - 2 : whole.utf8.count
    #expect(try await Self.accepted(library, whole, 0..<line) == [])
    #expect(try await Self.accepted(library, whole, head..<end) == [])
  }

  @Test(arguments: Library.allCases)
  func `an answer that is cut within its fields is no answer`(library: Library) async throws {
    try await Shortcoming.cutHead.row(library) {
      await #expect(processExitsWith: .success) { [library = library as Library] in
        let (line, head) = Self.parts(Self.announced)
        let accepted = try await Self.accepted(library, Self.announced, line..<head)
        #expect(accepted == [])
      }
    }
  }

  @Test(arguments: Library.allCases)
  func `fields behind a chunked body say nothing`(library: Library) async throws {
    try await Shortcoming.trailer.row(library) {
      await #expect(processExitsWith: .success) { [library = library as Library] in
        let server = try RawServer { peer in
          guard peer.request() != nil else { return }
          peer.send("HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\n\r\n")
          peer.send("2\r\n{}\r\n0\r\nContent-Type: c/d\r\n\r\n")
        }
        let transport = try library.transport(to: server.port)
        let response = try await transport.exchange(.push)
        #expect(response == TransportResponse(status: 200, contentType: "a/b", body: Array("{}".utf8)))
      }
    }
  }

  @Test(
    arguments: Library.allCases,
    [
      "", "\r\n", "hello\n", "<html>login</html>", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1\r\n\r\n",
      "HTTP/1.1 abc\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "\0\0\0\0",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "HTTP/1.1 100 Continue\r\n\r\n",
    ])
  func `what is no HTTP is a broken connection`(library: Library, bytes: String) async throws {
    let error = try await Self.error(library) { $0.send(bytes) }
    #expect(error?.isBroken == true, "\(String(describing: error))")
  }

  @Test(arguments: Library.allCases)
  func `what is longer than it said ends where it said`(library: Library) async throws {
    let server = try RawServer { peer in
      if peer.request() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 500 No\r\n\r\n") }
    }
    let transport = try library.transport(to: server.port)
    #expect(try await transport.exchange(.push).text == "abc")
    #expect(try await transport.exchange(.push).text == "abc")
  }

  @Test(arguments: Library.allCases)
  func `an answer without an end is cut at the limit`(library: Library) async throws {
    let chunked = try await Self.error(library, \.responseBytes, 1_000) { peer in
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      while peer.send("100\r\n" + String(repeating: "a", count: 256) + "\r\n") {}
    }
    #expect(chunked == .tooLarge(limit: 1_000))
    let toTheEnd = try await Self.error(library, \.responseBytes, 1_000) { peer in
      peer.send("HTTP/1.1 200 OK\r\n\r\n")
      while peer.send(String(repeating: "a", count: 256)) {}
    }
    #expect(toTheEnd == .tooLarge(limit: 1_000))
    let announced = try await Self.error(library, \.responseBytes, 1_000) { peer in
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")
      peer.waitForEnd()
    }
    #expect(announced == .tooLarge(limit: 1_000))
    let whole = try await Self.error(library, \.responseBytes, 1_000) {
      $0.answer(String(repeating: "a", count: 1_000))
    }
    #expect(whole == nil)
  }

  /// How many bytes of an answer without an end a client took that gives up after 100,000, at most `most`.
  static func flooded(_ library: Library, most: Int) async throws -> Int {
    let line = Line<Int>()
    let server = try RawServer { peer in
      guard peer.request() != nil else { return }
      peer.send("HTTP/1.1 200 OK\r\n\r\n")
      let part = [UInt8](repeating: 97, count: 64 << 10)
      var sent = 0
      while sent < most, peer.send(part) { sent += part.count }
      line.say(sent)
    }
    let transport = try library.transport(to: server.port) { $0.responseBytes = 100_000 }
    #expect(await transport.error() == .tooLarge(limit: 100_000))
    let taken = try #require(await line.next())
    return withExtendedLifetime(server) { taken }
  }

  @Test(arguments: Library.allCases)
  func `an answer that was given up is not read on`(library: Library) async throws {
    let most = 64 << 20
    try await Shortcoming.flood.row(library) {
      var taken = 0
      for _ in 0..<8 where taken < most { taken = try await Self.flooded(library, most: most) }
      #expect(taken < most)
    }
  }

  @Test(arguments: Library.allCases)
  func `fields without an end are cut`(library: Library) async throws {
    let error = try await Self.error(library) { peer in
      peer.send("HTTP/1.1 200 OK\r\n")
      while peer.send("X: " + String(repeating: "a", count: 1_000) + "\r\n") {}
    }
    #expect(error?.isBroken == true, "\(String(describing: error))")
  }

  @Test(arguments: Library.allCases)
  func `a silent server has the time to the first byte`(library: Library) async throws {
    let error = try await Self.error(library, \.firstByte, 50) { $0.waitForEnd() }
    #expect(error == .timedOut("first byte"))
  }

  @Test(arguments: Library.allCases)
  func `a body that stands still has the idle time`(library: Library) async throws {
    let error = try await Self.error(library, \.idle, 50) { peer in
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
      peer.waitForEnd()
    }
    #expect(error == .timedOut("idle"))
  }

  @Test(arguments: Library.allCases)
  func `interim responses without an end have the time to the first byte`(library: Library) async throws {
    let error = try await Self.error(library, \.firstByte, 50) { peer in
      while peer.send("HTTP/1.1 102 Processing\r\n\r\n") {}
    }
    #expect(error == .timedOut("first byte") || error?.isBroken == true, "\(String(describing: error))")
  }

  @Test(arguments: Library.allCases)
  func `an answer that drips has the time of the whole`(library: Library) async throws {
    let error = try await Self.error(library, \.total, 100) { peer in
      peer.send("HTTP/1.1 200 OK\r\n\r\n")
      while peer.send("a") {}
    }
    #expect(error == .timedOut("total") || error == .tooLarge(limit: 16 << 20), "\(String(describing: error))")
  }

  @Test(arguments: Library.allCases)
  func `an encryption that does not come about has the time of the connection`(library: Library) async throws {
    let server = try RawServer { $0.waitForEnd() }
    let transport = try library.transport(to: server.port, scheme: "https") { $0.connect = 50 }
    #expect(await transport.error() == .timedOut("connect"))
  }

  @Test(arguments: Library.allCases)
  func `a server without encryption is not spoken to in the clear`(library: Library) async throws {
    let server = try RawServer { peer in
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      peer.waitForEnd()
    }
    let error = await (try library.transport(to: server.port, scheme: "https")).error()
    #expect(error?.isUnreachable == true, "\(String(describing: error))")
  }

  @Test(arguments: Library.allCases)
  func `nobody there is unreachable`(library: Library) async throws {
    let port = try RawServer { _ in }.port  // closed again
    let error = await (try library.transport(to: port)).error()
    #expect(error?.isUnreachable == true, "\(String(describing: error))")
  }

  @Test(
    arguments: Library.allCases,
    ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"])
  func `a redirect is an answer, and nobody goes there`(library: Library, status: String) async throws {
    let other = try RawServer { _ in }
    let server = try RawServer { [port = other.port] peer in
      if peer.request() != nil {
        peer.answer("moved", status: status, fields: "Location: http://127.0.0.1:\(port)/\r\n")
      }
    }
    let response = try await library.transport(to: server.port).exchange(.push)
    #expect(response.status == Int(status.prefix(3)))
    #expect(response.contentType == nil)
    #expect(other.connections == 0)
    #expect(server.connections == 1)
  }

  @Test(arguments: Library.allCases)
  func `a login page is handed on as what it is`(library: Library) async throws {
    let server = try RawServer { peer in
      if peer.request() != nil {
        peer.answer("<html>Welcome</html>", fields: "Content-Type: Text/HTML; charset=\"a;b\"\r\nSet-Cookie: a=b\r\n")
      }
    }
    let transport = try library.transport(to: server.port)
    for _ in 0..<2 {
      let response = try await transport.exchange(.push)
      #expect(
        response
          == TransportResponse(status: 200, contentType: "text/html", body: Array("<html>Welcome</html>".utf8)))
      #expect(Answer(response) == .transient(status: 200, retryAfter: nil))
    }
  }

  static func refused(_ library: Library, asking challenge: String) async throws -> TransportResponse {
    let server = try RawServer { peer in
      while peer.request() != nil {
        peer.answer("{}", status: "401 Unauthorized", fields: "WWW-Authenticate: \(challenge)\r\n")
      }
    }
    let transport = try library.transport(to: server.port) { $0.idle = 1_000 }
    let response = try await transport.exchange(.push)
    return withExtendedLifetime(server) { response }
  }

  static let refusal = TransportResponse(status: 401, contentType: nil, body: Array("{}".utf8))

  @Test(
    arguments: Library.allCases,
    ["Bearer realm=\"skerry\", error=\"invalid_token\"", "Digest realm=\"x\", nonce=\"y\"", "Negotiate", "x"])
  func `a 401 is an answer, whatever it asks for`(library: Library, challenge: String) async throws {
    #expect(try await Self.refused(library, asking: challenge) == Self.refusal)
  }

  @Test(arguments: Library.allCases)
  func `a 401 is an answer, even if it asks for a password`(library: Library) async throws {
    try await Shortcoming.basic.row(library) {
      let response = try await Self.refused(library, asking: "Basic realm=\"x\"")
      #expect(response == Self.refusal)
    }
  }

  @Test(arguments: Library.allCases)
  func `no cookie comes back, and no coding is asked for`(library: Library) async throws {
    let server = try RawServer { peer in
      while let request = peer.request() {
        let asked = request.value("Accept-Encoding") ?? "identity"
        peer.answer("\(request.value("Cookie") ?? "none") \(asked)", fields: "Set-Cookie: a=b\r\n")
      }
    }
    let transport = try library.transport(to: server.port)
    for _ in 0..<2 { #expect(try await transport.exchange(.push).text == "none identity") }
  }

  @Test(arguments: Library.allCases)
  func `nothing is unpacked`(library: Library) async throws {
    let server = try RawServer { peer in
      while peer.request() != nil { peer.answer("plain", fields: "Content-Encoding: gzip\r\n") }
    }
    let transport = try library.transport(to: server.port)
    try await Shortcoming.coding.row(library) {
      let text = try await transport.exchange(.push).text
      #expect(text == "plain")
    }
  }

  @Test(arguments: Library.allCases)
  func `advice to wait is read`(library: Library) async throws {
    let server = try RawServer { peer in
      if peer.request() != nil {
        peer.answer("", status: "503 Service Unavailable", fields: "retry-after: Sun, 06 Nov 1994 08:49:39 GMT\r\n")
      }
    }
    let response = try await library.transport(to: server.port).exchange(.push)
    #expect(response.status == 503)
    #expect(response.retryAfter == 2_000)
  }
}
