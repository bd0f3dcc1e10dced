// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A numeric address and a port to listen on. Names are not looked up: they may lead elsewhere tomorrow.
struct ListenAddress {
  private let host: String
  private let port: Int
  let isIPv6: Bool

  /// Nil if the host is no numeric address, or the port no port.
  init?(host: String, port: Int) {
    guard 0...65_535 ~= port else { return nil }
    self.host = host
    self.port = port
    isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
    guard withSocketAddress({ _ in true }) == true else { return nil }
  }

  /// Calls the closure with the socket address, which is valid until it returns; nil if there is none.
  func withSocketAddress<R>(_ body: (UnsafePointer<sockaddr>) -> R?) -> R? {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &found) == 0 else { return nil }
    defer { freeaddrinfo(found) }
    return found?.pointee.ai_addr.flatMap { body(UnsafePointer($0)) }
  }
}
