// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SkerryHTTP
import SkerryMachine
import Testing

@Suite(.timeLimit(.minutes(1))) struct CancellationTests {
  /// What a server's thread tells the test, which waits for it without blocking.
  struct Line: Sendable {
    let say: @Sendable (String) -> Void
    private let heard: AsyncStream<String>

    init() {
      let (stream, continuation) = AsyncStream.makeStream(of: String.self)
      heard = stream
      say = { continuation.yield($0) }
    }

    func next() async -> String? {
      var iterator = heard.makeAsyncIterator()
      return await iterator.next()
    }
  }

  static func start(_ transport: HTTPTransport) -> Task<TransportError?, Never> {
    Task { await TransportFixture.error(transport) }
  }

  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
  func `a cancelled exchange ends at once, here and on the wire`(sent: String) async throws {
    let line = Line()
    let server = try RawServer { peer in
      guard peer.request() != nil else { return }
      peer.send(sent)
      line.say("waiting")
      peer.waitForEnd()
      line.say("ended")
    }
    let transport = try TransportFixture.make(server.port) { $0.connections = 1 }
    let exchange = Self.start(transport)
    #expect(await line.next() == "waiting")
    exchange.cancel()
    #expect(await exchange.value == .cancelled)
    #expect(await line.next() == "ended")
  }

  @Test func `a late answer reaches nobody, and the next exchange gets its own`() async throws {
    let line = Line()
    let go = DispatchSemaphore(value: 0)
    let server = try RawServer { peer in
      guard let request = peer.request() else { return }
      if request.body == "{}" {
        line.say("waiting")
        go.wait()
      }
      peer.answer("to " + request.body)
    }
    let transport = try TransportFixture.make(server.port) { $0.connections = 1 }
    let exchange = Self.start(transport)
    #expect(await line.next() == "waiting")
    exchange.cancel()
    #expect(await exchange.value == .cancelled)
    go.signal()
    let second = TransportRequest(path: "/x", contentType: "a/b", body: Array("2".utf8))
    #expect(try await transport.exchange(second).text == "to 2")
  }

  @Test func `an exchange that waits for its turn is cancelled as well`() async throws {
    let line = Line()
    let server = try RawServer { peer in
      guard peer.request() != nil else { return }
      line.say("waiting")
      peer.waitForEnd()
    }
    let transport = try TransportFixture.make(server.port) { $0.connections = 1 }
    let first = Self.start(transport)
    #expect(await line.next() == "waiting")
    let second = Self.start(transport)
    second.cancel()
    #expect(await second.value == .cancelled)
    first.cancel()
    #expect(await first.value == .cancelled)
    #expect(server.connections == 1)
  }

  @Test func `a task that is cancelled already sends nothing`() async throws {
    let server = try RawServer { _ in }
    let transport = try TransportFixture.make(server.port)
    let error = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await TransportFixture.error(transport)
    }.value
    #expect(error == .cancelled)
    #expect(server.connections == 0)
  }

  @Test func `transfers that stand still hold no thread of the cooperative pool`() async throws {
    let line = Line()
    let server = try RawServer { peer in
      guard peer.request() != nil else { return }
      line.say("waiting")
      peer.waitForEnd()
    }
    let transport = try TransportFixture.make(server.port) { $0.connections = 16 }
    let exchanges = (0..<16).map { _ in Self.start(transport) }
    for _ in exchanges { #expect(await line.next() == "waiting") }
    #expect(await Task.detached { true }.value)
    for exchange in exchanges { exchange.cancel() }
    for exchange in exchanges { #expect(await exchange.value == .cancelled) }
  }
}
