// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A TCP server whose every byte the test decides. Each connection is served on a thread of its own; all end with the
/// server, also those that a client forgot.
final class RawServer: Sendable {
  struct Failure: Error { var code: Int32 }

  let port: Int
  private let listener: Int32
  private let count: Counter
  private let peers = Peers()

  /// How many connections came so far.
  var connections: Int { count.value }

  final class Counter: Sendable {
    private let number = Atomic<Int>(0)
    var value: Int { number.load(ordering: .sequentiallyConsistent) }
    @discardableResult func add() -> Int { number.add(1, ordering: .sequentiallyConsistent).newValue }
  }

  /// The open connections: shut down under the lock under which they are taken out, and closed after that only.
  private final class Peers: Sendable {
    private let open = Mutex<(sockets: Set<Int32>, isOver: Bool)>(([], false))

    func add(_ socket: Int32) {
      open.withLock { open in
        open.sockets.insert(socket)
        if open.isOver { shutdown(socket, Int32(SHUT_RDWR)) }
      }
    }

    func remove(_ socket: Int32) { open.withLock { _ = $0.sockets.remove(socket) } }

    func end() {
      open.withLock { open in
        open.isOver = true
        for socket in open.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
      }
    }
  }

  init(_ serve: @escaping @Sendable (Peer) -> Void) throws {
    #if canImport(Glibc)
      let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let listener = Darwin.socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard result else { throw Failure(code: errno) }
    let count = Counter()
    (self.listener, self.count, port) = (listener, count, Int(UInt16(bigEndian: address.sin_port)))
    Thread.detachNewThread { [peers] in
      while case let socket = accept(listener, nil, nil), socket >= 0 {
        count.add()
        peers.add(socket)
        Thread.detachNewThread {
          serve(Peer(socket: socket))
          peers.remove(socket)
          close(socket)
        }
      }
      close(listener)
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    peers.end()
  }
}

/// What a server's thread tells the test, which waits for it without blocking.
struct Line<Word: Sendable>: Sendable {
  let say: @Sendable (Word) -> Void
  private let heard: AsyncStream<Word>

  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Word.self)
    heard = stream
    say = { continuation.yield($0) }
  }

  func next() async -> Word? {
    var iterator = heard.makeAsyncIterator()
    return await iterator.next()
  }
}

/// One connection, seen from the server.
struct Peer: Sendable {
  struct Request {
    var line: String
    /// The field lines, as they came.
    var fields: [String]
    var body: String

    func value(_ name: String) -> String? {
      fields.first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }.map { String($0.dropFirst(name.count + 2)) }
    }
  }

  fileprivate let socket: Int32

  /// The next request; nil if the client has closed.
  func request() -> Request? {
    var bytes: [UInt8] = []
    while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      guard let byte = read(1)?.first else { return nil }
      bytes.append(byte)
    }
    var lines = String(decoding: bytes.dropLast(4), as: UTF8.self).components(separatedBy: "\r\n")
    var request = Request(line: lines.removeFirst(), fields: lines, body: "")
    if request.value("Expect") != nil { send("HTTP/1.1 100 Continue\r\n\r\n") }
    let count = request.value("Content-Length").flatMap { Int($0) } ?? 0
    guard let body = read(count) else { return nil }
    request.body = String(decoding: body, as: UTF8.self)
    return request
  }

  /// False if the client is gone.
  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  func answer(_ body: String, status: String = "200 OK", fields: String = "Content-Type: application/json\r\n") {
    send("HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  /// Blocks until the client closes.
  func waitForEnd() { while read(1) != nil {} }

  private func read(_ count: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(max(count, 1), 64 << 10))
    while bytes.count < count {
      let got = recv(socket, &buffer, min(buffer.count, count - bytes.count), 0)
      guard got > 0 else { return nil }
      bytes += buffer[..<got]
    }
    return bytes
  }
}
