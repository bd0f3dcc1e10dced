// SPDX-License-Identifier: Apache-2.0

import CSkerryCurl

/// What libcurl's callbacks collect in one transfer, bounded while it comes in.
///
/// libcurl holds an unretained pointer to it, and calls back only inside `CurlHandle.perform`, which keeps it alive.
final class Reception {
  private(set) var fields: [CurlField] = []
  private(set) var body: [UInt8] = []
  /// All bytes so far, headers included: what shows that the transfer moves.
  private(set) var bytes = 0
  private(set) var hasBegun = false
  /// Whether the empty line came that ends the headers. libcurl takes a connection that is closed before it for an
  /// answer without a body.
  private(set) var isHeadWhole = false
  private(set) var refusal: CurlError?
  private let limits: CurlLimits
  private var headerBytes = 0

  init(_ limits: CurlLimits) { self.limits = limits }

  var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  typealias Callback =
    @Sendable @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int

  /// For `CURLOPT_WRITEFUNCTION`: any other count than the given one ends the transfer.
  static let write: Callback = { start, size, count, pointer in
    guard let start, let pointer else { return 0 }
    let part = UnsafeRawBufferPointer(start: start, count: size * count)
    return Unmanaged<Reception>.fromOpaque(pointer).takeUnretainedValue().take(body: part) ? part.count : 0
  }

  /// For `CURLOPT_HEADERFUNCTION`: a whole line each time.
  static let header: Callback = { start, size, count, pointer in
    guard let start, let pointer else { return 0 }
    let line = UnsafeRawBufferPointer(start: start, count: size * count)
    return Unmanaged<Reception>.fromOpaque(pointer).takeUnretainedValue().take(header: line) ? line.count : 0
  }

  private func take(body part: UnsafeRawBufferPointer) -> Bool {
    guard part.count <= limits.responseBytes - body.count else {
      refusal = .tooLarge(limit: limits.responseBytes)
      return false
    }
    bytes += part.count
    body.append(contentsOf: part)
    return true
  }

  private func take(header line: UnsafeRawBufferPointer) -> Bool {
    bytes += line.count
    headerBytes += line.count
    guard headerBytes <= limits.headerBytes else {
      refusal = .broken("the response headers are longer than \(limits.headerBytes) bytes")
      return false
    }
    if isHeadWhole { return true }  // what follows a chunked body says nothing that is looked at
    let text = String(decoding: line, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      fields = []  // an interim response came before
      isHeadWhole = false
      hasBegun = !(text.split(separator: " ").dropFirst().first?.hasPrefix("1") ?? false)
    } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
      let name = String(decoding: text.utf8[..<colon].map(Reception.lower), as: UTF8.self)
      fields.append(CurlField(name, Reception.trimmed(text[colon...].dropFirst())))
    } else if text == "\r\n" || text == "\n" {
      isHeadWhole = hasBegun
    }
    return true
  }

  private static func lower(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }

  private static func trimmed(_ text: Substring) -> String {
    let blank: [UInt8] = [0x20, 0x09, 0x0D, 0x0A]
    let front = text.utf8.drop { blank.contains($0) }
    let end = front.lastIndex { !blank.contains($0) }
    return end.map { String(Substring(front[...$0])) } ?? ""
  }
}
