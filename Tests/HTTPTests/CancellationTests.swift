// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SkerryMachine
import SkerryTransport
import Testing

/// A cancelled exchange ends at once and leaves nothing behind: the contract, over each library.
@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
  static func start(_ transport: any Transport) -> Task<TransportError?, Never> { Task { await transport.error() } }

  @Test(arguments: Library.allCases, ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
  func `a cancelled exchange ends at once, here and on the wire`(library: Library, sent: String) async throws {
    let line = Line<String>()
    let server = try RawServer { peer in
      guard peer.request() != nil else { return }
      peer.send(sent)
      line.say("waiting")
      peer.waitForEnd()
      line.say("ended")
    }
    let transport = try library.transport(to: server.port) { $0.connections = 1 }
    let exchange = Self.start(transport)
    #expect(await line.next() == "waiting")
    exchange.cancel()
    #expect(await exchange.value == .cancelled)
    #expect(await line.next() == "ended")
  }

  @Test(arguments: Library.allCases)
  func `an exchange is cancelled while its answer streams`(library: Library) async throws {
    let line = Line<String>()
    let server = try RawServer { peer in
      guard peer.request() != nil else { return }
      peer.send("HTTP/1.1 200 OK\r\n\r\n")
      line.say("streaming")
      while peer.send("a") {}
      line.say("ended")
    }
    let transport = try library.transport(to: server.port) { $0.connections = 1 }
    let exchange = Self.start(transport)
    #expect(await line.next() == "streaming")
    exchange.cancel()
    #expect(await exchange.value == .cancelled)
    #expect(await line.next() == "ended")
  }

  @Test(arguments: Library.allCases)
  func `a late answer reaches nobody, and the next exchange gets its own`(library: Library) async throws {
    let line = Line<String>()
    let go = DispatchSemaphore(value: 0)
    let server = try RawServer { peer in
      guard let request = peer.request() else { return }
      if request.body == "{}" {
        line.say("waiting")
        go.wait()
      }
      peer.answer("to " + request.body)
    }
    let transport = try library.transport(to: server.port) { $0.connections = 1 }
    let exchange = Self.start(transport)
    #expect(await line.next() == "waiting")
    exchange.cancel()
    #expect(await exchange.value == .cancelled)
    go.signal()
    #expect(try await transport.exchange(.text("2")).text == "to 2")
  }

  @Test(arguments: Library.allCases)
  func `an exchange that waits for its turn is cancelled as well`(library: Library) async throws {
    let line = Line<String>()
    let server = try RawServer { peer in
      guard peer.request() != nil else { return }
      line.say("waiting")
      peer.waitForEnd()
    }
    let transport = try library.transport(to: server.port) { $0.connections = 1 }
    let first = Self.start(transport)
    #expect(await line.next() == "waiting")
    let second = Self.start(transport)
    second.cancel()
    #expect(await second.value == .cancelled)
    first.cancel()
    #expect(await first.value == .cancelled)
    #expect(server.connections == 1)
  }

  @Test(arguments: Library.allCases)
  func `a task that is cancelled already sends nothing`(library: Library) async throws {
    let server = try RawServer { _ in }
    let transport = try library.transport(to: server.port)
    let error = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await transport.error()
    }.value
    #expect(error == .cancelled)
    #expect(server.connections == 0)
  }

  @Test(arguments: Library.allCases)
  func `transfers that stand still hold no thread of the cooperative pool`(library: Library) async throws {
    let line = Line<String>()
    let server = try RawServer { peer in
      guard peer.request() != nil else { return }
      line.say("waiting")
      peer.waitForEnd()
    }
    let transport = try library.transport(to: server.port) { $0.connections = 16 }
    let exchanges = (0..<16).map { _ in Self.start(transport) }
    for _ in exchanges { #expect(await line.next() == "waiting") }
    #expect(await Task.detached { true }.value)
    for exchange in exchanges { exchange.cancel() }
    for exchange in exchanges { #expect(await exchange.value == .cancelled) }
  }
}
