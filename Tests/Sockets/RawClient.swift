// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A TCP client that sends exactly the bytes it is given and blocks to read, for at most five seconds.
package final class RawClient {
  package struct Failure: Error {
    package var what: String
    package var code: Int32
  }

  /// What came back, read as far as its own headers say.
  package struct Response {
    package var status: Int
    package var fields: [(name: String, value: String)]
    package var body: String

    package subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
  }

  private let socket: Int32
  private var unread: [UInt8] = []

  package init(port: Int, receiveBuffer: Int32? = nil) throws {
    #if canImport(Glibc)
      socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var patience = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    if var receiveBuffer {
      setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Failure(what: "connect", code: errno) }
  }

  deinit { close(socket) }

  package func send(_ text: String) throws { try send(Array(text.utf8)) }

  package func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Failure(what: "send", code: errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// Says that nothing more will be sent.
  package func finish() { shutdown(socket, Int32(SHUT_WR)) }

  /// Closes with a reset instead of an end.
  package func reset() {
    var now = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
  }

  /// Everything until the server closes, which a reset does as well as an end.
  package func readToEnd() throws -> String {
    while try fill() {}
    defer { unread = [] }
    return String(decoding: unread, as: UTF8.self)
  }

  /// The next response; nil if the server closed instead.
  package func response(toHead: Bool = false) throws -> Response? {
    let mark = Array("\r\n\r\n".utf8)
    while find(mark) == nil { guard try fill() else { return nil } }
    guard let end = find(mark) else { return nil }
    var lines = String(decoding: unread[..<end], as: UTF8.self).split(separator: "\r\n").map(String.init)
    unread.removeFirst(end + mark.count)
    let status = Int(lines.removeFirst().split(separator: " ")[1]) ?? 0
    let fields = lines.map { line in
      let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
      return (name: parts[0], value: String(parts[1].drop { $0 == " " }))
    }
    var response = Response(status: status, fields: fields, body: "")
    let count = toHead || status < 200 ? 0 : response["Content-Length"].flatMap(Int.init) ?? 0
    while unread.count < count { guard try fill() else { return nil } }
    response.body = String(decoding: unread[..<count], as: UTF8.self)
    unread.removeFirst(count)
    return response
  }

  /// Whether bytes came that are no whole response.
  package var hasPart: Bool { !unread.isEmpty }

  /// Whether the server has closed, with nothing left to read.
  package func isAtEnd() throws -> Bool { try unread.isEmpty && !fill() }

  private func find(_ mark: [UInt8]) -> Int? {
    guard unread.count >= mark.count else { return nil }
    return (0...(unread.count - mark.count)).first { unread[$0...].starts(with: mark) }
  }

  private func fill() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(socket, &buffer, buffer.count, 0)
    if count < 0 && errno != ECONNRESET { throw Failure(what: "recv", code: errno) }
    guard count > 0 else { return false }
    unread += buffer[..<count]
    return true
  }
}
