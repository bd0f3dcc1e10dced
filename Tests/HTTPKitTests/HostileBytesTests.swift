// SPDX-License-Identifier: Apache-2.0

import SkerryHTTPKit
import SkerrySockets
import Testing

/// Whatever comes, the server answers or closes, and serves the next one.
@Suite struct HostileBytesTests {
  /// SplitMix64, so that a failure can be repeated.
  struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
      return z ^ z >> 31
    }
  }

  /// The library goes on waiting for the rest of a chunk when the client has finished: our deadline ends that.
  static let impatient: @Sendable (inout HTTPLimits) -> Void = {
    $0.headMilliseconds = 20
    $0.bodyMilliseconds = 20
    $0.watchMilliseconds = 5
  }

  static let valid = Array(
    "POST /echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
      .utf8)

  @Test func `each prefix of a request is survived`() throws {
    let fixture = try ServerFixture(ServerFixture.standard, Self.impatient)
    for count in 0..<Self.valid.count { try throwAt(fixture, Array(Self.valid[..<count])) }
    #expect(try fixture.get("/hello")?.status == 200)
    #expect(fixture.events.all.allSatisfy { $0.contains("in time") })
  }

  @Test func `a request with one byte changed is survived`() throws {
    let fixture = try ServerFixture(ServerFixture.standard, Self.impatient)
    var generator = Generator(state: 1)
    for index in Self.valid.indices {
      var bytes = Self.valid
      bytes[index] = UInt8.random(in: 0...255, using: &generator)
      try throwAt(fixture, bytes)
    }
    #expect(try fixture.get("/hello")?.status == 200)
    #expect(fixture.events.all.allSatisfy { $0.contains("in time") })
  }

  @Test func `random bytes are survived`() throws {
    let fixture = try ServerFixture(ServerFixture.standard, Self.impatient)
    var generator = Generator(state: 2)
    for _ in 0..<100 {
      let count = Int.random(in: 1...300, using: &generator)
      try throwAt(fixture, (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
    #expect(try fixture.get("/hello")?.status == 200)
    #expect(fixture.events.all.allSatisfy { $0.contains("in time") })
  }

  @Test(arguments: [
    "FFFFFFFFFFFFFFFFFF\r\nabc", "-1\r\nabc\r\n", "3\r\nabcd\r\n0\r\n\r\n", "x\r\n", "\r\n", "3abc",
    "3;" + String(repeating: "e", count: 100_000),
  ])
  func `a malformed chunk ends the connection`(chunk: String) throws {
    let fixture = try ServerFixture(ServerFixture.standard, Self.impatient)
    let client = try fixture.client()
    try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    try? client.send(chunk)
    client.finish()
    let answer = try client.readToEnd()
    // The library calls it its own failure if the line that opens a chunk fits into no buffer.
    #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || chunk.utf8.count > 32 << 10)
    #expect(try fixture.get("/hello")?.status == 200)
  }

  /// Sends all, then nothing more, and reads until there is an answer or the server closes.
  private func throwAt(_ fixture: ServerFixture, _ bytes: [UInt8]) throws {
    let client = try fixture.client()
    try? client.send(bytes)
    client.finish()
    while let response = try client.response(), response.status < 200 {}
  }
}
