// SPDX-License-Identifier: Apache-2.0

/// The path and query of a request line, decoded once and strictly: what two readers could take for different paths is
/// refused, not repaired.
struct RequestTarget: Hashable {
  var path: String
  var query: String?

  init(_ raw: [UInt8], limit: Int) throws(HTTPProblem) {
    guard raw.count <= limit else { throw HTTPProblem(414, "The path is longer than \(limit) bytes.") }
    // Absolute and authority forms, and the asterisk, are for proxies and `OPTIONS *`.
    guard raw.first == UInt8(ascii: "/") else { throw RequestTarget.malformed("It must begin with a slash.") }
    let mark = raw.firstIndex(of: UInt8(ascii: "?"))
    path = try RequestTarget.decode(raw[..<(mark ?? raw.endIndex)])
    query = try mark.map { index throws(HTTPProblem) in try RequestTarget.plain(raw[(index + 1)...]) }
  }

  private static func decode(_ raw: ArraySlice<UInt8>) throws(HTTPProblem) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(raw.count)
    var index = raw.startIndex
    while index < raw.endIndex {
      if raw[index] == UInt8(ascii: "%") {
        bytes.append(try escape(raw[index...].dropFirst().prefix(2)))
        index += 3
      } else {
        bytes.append(try allowed(raw[index]))
        index += 1
      }
    }
    guard let path = String(validating: bytes, as: UTF8.self) else { throw malformed("It is not valid UTF-8.") }
    let segments = bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let odd = segments.count > 1 && segments.contains(where: \.isEmpty) || segments.contains { isDots($0) }
    guard !odd else { throw malformed("It has an empty or a dot segment.") }
    return path
  }

  private static func escape(_ digits: ArraySlice<UInt8>) throws(HTTPProblem) -> UInt8 {
    guard digits.count == 2, let high = digits.first.flatMap(hex), let low = digits.last.flatMap(hex) else {
      throw malformed("It has a malformed percent escape.")
    }
    let byte = high << 4 | low
    guard byte >= 0x20, byte != 0x7F, byte != UInt8(ascii: "/"), byte != UInt8(ascii: "\\") else {
      throw malformed("It has a percent escape for a byte that no path may hold.")
    }
    return byte
  }

  /// A visible ASCII character that may stand in a path or a query as it is.
  private static func allowed(_ byte: UInt8) throws(HTTPProblem) -> UInt8 {
    guard 0x21...0x7E ~= byte, !"\"#<>\\^`{|}".utf8.contains(byte) else {
      throw malformed("It has a character that must be percent-encoded.")
    }
    return byte
  }

  private static func plain(_ raw: ArraySlice<UInt8>) throws(HTTPProblem) -> String {
    for byte in raw { _ = try allowed(byte) }
    return String(decoding: raw, as: UTF8.self)
  }

  private static func isDots(_ segment: ArraySlice<UInt8>) -> Bool {
    segment.count <= 2 && !segment.isEmpty && segment.allSatisfy { $0 == UInt8(ascii: ".") }
  }

  private static func hex(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  private static func malformed(_ reason: String) -> HTTPProblem {
    HTTPProblem(400, "The path is malformed. \(reason)")
  }
}
