// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An address as `URLSession` itself reads it, so that what is judged here is what is connected to.
struct ServerAddress: Hashable, Sendable {
  let url: URL
  /// A name or a numeric address; an IPv6 address without its brackets.
  let host: String
  let isEncrypted: Bool

  /// Nil unless it is an address of HTTP with a host, and without a user, a password, a query and a fragment: secrets do
  /// not belong into addresses, which get into logs.
  init?(_ text: String) {
    guard !text.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || $0 == 0x5C }),
      let parts = URLComponents(string: text, encodingInvalidCharacters: false), let url = parts.url,
      parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil,
      let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https",
      let host = url.host(percentEncoded: true), ServerAddress.isPlain(host), 0...65_535 ~= parts.port ?? 0
    else { return nil }
    self.url = url
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host.lowercased()
    isEncrypted = scheme == "https"
  }

  /// The address of this path below this one; nil if it is no such path.
  func appending(_ path: String) -> ServerAddress? {
    guard path.utf8.first == UInt8(ascii: "/") else { return nil }
    let text = url.absoluteString
    let base = text.utf8.last == UInt8(ascii: "/") ? String(text.dropLast()) : text
    guard let whole = ServerAddress(base + path), whole.host == host, whole.isEncrypted == isEncrypted else {
      return nil
    }
    return whole
  }

  /// Whether it is this machine: nobody else can listen, and no proxy can reach it.
  var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// An escaped name could be read as one here and as another one there.
  private static func isPlain(_ host: String) -> Bool {
    !host.isEmpty
      && host.utf8.allSatisfy { byte in
        0x30...0x3A ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte || "-._[]".utf8.contains(byte)
      }
  }
}
