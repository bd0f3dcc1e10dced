// SPDX-License-Identifier: Apache-2.0

import CSkerryCurl

/// An address as libcurl itself reads it, so that what is judged here is what is connected to.
package struct CurlURL: Hashable, Sendable {
  /// `http` or `https`.
  package let scheme: String
  /// A name or a numeric address, as libcurl normalises it.
  package let host: String
  /// Whole and normalised.
  package let text: String

  /// Nil unless it is an address of HTTP with a host, and without a user, a password, a query and a fragment: secrets
  /// do not belong into addresses, which get into logs.
  package init?(_ text: String) {
    guard !text.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }), let parsed = ParsedURL(text) else { return nil }
    let unwanted = [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT]
    guard let scheme = parsed.part(CURLUPART_SCHEME), scheme == "http" || scheme == "https",
      let host = parsed.part(CURLUPART_HOST), let whole = parsed.part(CURLUPART_URL),
      unwanted.allSatisfy({ parsed.part($0) == nil })
    else { return nil }
    self.scheme = scheme
    self.host = host
    self.text = whole
  }

  /// The address of this path below this one; nil if it is no such path.
  package func appending(_ path: String) -> CurlURL? {
    guard path.utf8.first == UInt8(ascii: "/") else { return nil }
    let base = text.utf8.last == UInt8(ascii: "/") ? String(text.dropLast()) : text
    guard let whole = CurlURL(base + path), whole.host == host, whole.scheme == scheme else { return nil }
    return whole
  }

  /// Whether it is this machine: nobody else can listen, and no proxy can reach it.
  package var isLoopback: Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

/// The only owner of libcurl's parse of an address.
private struct ParsedURL: ~Copyable {
  private let handle: OpaquePointer

  init?(_ text: String) {
    guard let handle = curl_url() else { return nil }
    guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else {
      curl_url_cleanup(handle)
      return nil
    }
    self.handle = handle
  }

  deinit { curl_url_cleanup(handle) }

  func part(_ part: CURLUPart) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
