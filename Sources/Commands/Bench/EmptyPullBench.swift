// SPDX-License-Identifier: Apache-2.0

import Foundation
import Skerry
import SkerryHTTPKit
import SkerryMachine
import SkerryServer
import Synchronization

/// Pulls a second that bring nothing new, with token and membership, against the same requests to a bare server that says
/// hello.
enum EmptyPullBench {
  private static let connections = 4

  static func run(_ scale: BenchScale) async throws {
    let count = scale.count(20_000)
    var result = BenchResult(
      bench: "emptyPull", name: "\(connections) connections", ours: [], bare: [], better: .higher, aim: 0.25,
      unit: "requests a second")
    try await scale.withFolder { folder in
      let server = try BenchServer(folder)
      defer { server.server.stop() }
      let request = try await emptyPull(server, folder)
      let hello = try HelloServer(threads: 4)
      for _ in 0..<scale.runs {
        result.ours.append(try await rate(server.server.port, request, count))
        result.bare.append(try await rate(hello.port, request, count))
      }
    }
    result.print()
  }

  /// The request that a device in step sends, as its own client sends it.
  private static func emptyPull(_ server: BenchServer, _ folder: String) async throws -> [UInt8] {
    let replica = try await Replica.open(in: folder, account: BenchTable.account, schema: BenchTable.schema)
    for number in 0..<100 {
      let row = BenchTable.row(number)
      try await replica.write { tx in try tx.insert("visits", row) }
    }
    let recorder = Recorder(try server.transport())
    let engine = SyncEngine(replica, transport: recorder)
    for _ in 0..<2 { _ = try await engine.syncOnce(within: .seconds(60)) }
    guard let body = recorder.lastPull.withLock({ $0 }) else { throw ProcessError("nothing was pulled") }
    let head = """
      POST /v1/pull HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(try server.token())\r\n\
      Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n
      """
    return Array(head.utf8) + body
  }

  /// Requests a second, over connections that stay open, each with one request at a time.
  private static func rate(_ port: Int, _ request: [UInt8], _ count: Int) async throws -> Double {
    let share = count / connections
    let time = try await seconds {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<connections {
          group.addTask { try await onThread { try LoadConnection(port: port).repeatedly(request, share) } }
        }
        try await group.waitForAll()
      }
    }
    return Double(share * connections) / time
  }

  /// Blocking work has a thread of its own.
  private static func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
  }

  private final class Recorder: Transport {
    private let base: any Transport
    let lastPull = Mutex<[UInt8]?>(nil)

    init(_ base: any Transport) { self.base = base }

    func exchange(_ request: TransportRequest) async throws -> TransportResponse {
      if request.path == "/v1/pull" { lastPull.withLock { $0 = request.body } }
      return try await base.exchange(request)
    }
  }
}

/// A connection that sends the same request again and again, with as little work as there can be.
private struct LoadConnection: ~Copyable {
  private let socket: Int32

  init(port: Int) throws {
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = Int32(SOCK_STREAM.rawValue)
    #endif
    socket = Foundation.socket(AF_INET, kind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let descriptor = socket
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result != 0 { throw ProcessError("no connection to port \(port)") }
  }

  deinit { close(socket) }

  func repeatedly(_ request: [UInt8], _ count: Int) throws {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var length: Int?
    for _ in 0..<count {
      guard send(socket, request, request.count, 0) == request.count else {
        throw ProcessError("a request was not sent")
      }
      var received = 0
      repeat {
        let room = buffer.count - received
        let more = buffer.withUnsafeMutableBytes { recv(socket, $0.baseAddress.map { $0 + received }, room, 0) }
        if more <= 0 { throw ProcessError("the connection was closed") }
        received += more
        // All answers are as long as the first one: their bodies are the same, and dates have one length.
        if length == nil { length = try LoadConnection.length(buffer[..<received]) }
      } while received < length ?? .max
    }
  }

  /// How long the whole answer is; nil before its head is there.
  private static func length(_ bytes: ArraySlice<UInt8>) throws -> Int? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.range(of: "\r\n\r\n") else { return nil }
    guard text.hasPrefix("HTTP/1.1 200") else { throw ProcessError("the answer was \(text.prefix(12))") }
    let head = text[..<end.lowerBound].lowercased()
    guard let field = head.range(of: "content-length: "),
      let body = Int(head[field.upperBound...].prefix { $0.isNumber })
    else { throw ProcessError("an answer without a length") }
    return head.utf8.count + 4 + body
  }
}
