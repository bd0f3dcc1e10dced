// SPDX-License-Identifier: Apache-2.0

import SkerrySockets
import Testing

@testable import SkerryHTTPKit

@Suite(.timeLimit(.minutes(1))) struct PatienceTests {
  @Test(arguments: ["", "GET /hello HT", "GET /hello HTTP/1.1\r\nHost: x\r\nX: "])
  func `a head that does not come is not waited for`(half: String) throws {
    let fixture = try ServerFixture {
      $0.headMilliseconds = 30
      $0.watchMilliseconds = 10
    }
    let client = try fixture.client()
    try client.send(half)
    #expect(try client.readToEnd() == "")
    while fixture.events.all.isEmpty {}  // told after the deed
    #expect(fixture.events.all == ["connections that did not get on in time, and were closed: 1"])
  }

  @Test func `a body that does not come is not waited for`() throws {
    let fixture = try ServerFixture {
      $0.bodyMilliseconds = 30
      $0.watchMilliseconds = 10
    }
    let client = try fixture.client()
    try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc")
    #expect(try client.readToEnd() == "")
  }

  @Test func `a client that does not read is not waited for`() throws {
    let big = HTTPRoute("GET", "/big") { _ in HTTPResponse(status: 200, body: Array(repeating: 97, count: 64 << 20)) }
    let fixture = try ServerFixture([big]) {
      $0.bodyMilliseconds = 30
      $0.bytesPerSecond = 1 << 30
      $0.watchMilliseconds = 10
    }
    let client = try RawClient(port: fixture.server.port, receiveBuffer: 4_096)
    try client.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
    while fixture.events.all.isEmpty {}
    #expect(try client.readToEnd().utf8.count < 64 << 20)
  }

  @Test func `each byte of a body earns time, and a byte now and then does not`() {
    var limits = HTTPLimits()
    limits.watchMilliseconds = 1_000
    limits.headMilliseconds = 2_000
    limits.bodyMilliseconds = 3_000
    limits.bytesPerSecond = 10
    limits.idleSeconds = 4
    let watch = ConnectionWatch(limits: limits)
    let record = ConnectionRecord(socket: -1)
    watch.opened(record)
    #expect((0..<4).map { _ in watch.tick() } == [0, 0, 0, 1])  // two seconds, and the tick under way
    let start = watch.now
    watch.bodyExpected(on: record, since: start, bytes: 9)
    watch.bodyExpected(on: record, since: start, bytes: 20)
    #expect((0..<7).map { _ in watch.tick() } == [0, 0, 0, 0, 0, 0, 1])
    watch.bodyExpected(on: record, since: watch.now, bytes: 0)
    watch.released(record)
    #expect((0..<9).allSatisfy { _ in watch.tick() == 0 })
    watch.rested(record)
    #expect((0..<8).map { _ in watch.tick() } == [0, 0, 0, 0, 0, 0, 0, 1])
    watch.headExpected(on: record)
    watch.closed(record)
    #expect((0..<9).allSatisfy { _ in watch.tick() == 0 })
  }

  @Test func `one address gets no more connections than it may have`() throws {
    let fixture = try ServerFixture { $0.connectionsPerAddress = 2 }
    let held = try (0..<2).map { _ in try fixture.client() }
    for client in held {
      try client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try client.response()?.status == 200)
    }
    let further = try fixture.client()
    #expect(try further.readToEnd() == "")
    try held[0].send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try held[0].response()?.status == 200)
  }
}
