// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
  /// Checks a text in quotes, and notes where it is. Nothing is copied here.
  mutating func text(_ kind: JSONNode.Kind) throws(WireError) {
    let start = position
    var hasEscape = false
    position += 1
    while true {
      position = JSONText.endOfPlain(in: bytes, from: position)
      guard let byte = peek else { throw unexpected("a quote") }
      if byte == UInt8(ascii: "\"") {
        break
      } else if byte == UInt8(ascii: "\\") {
        hasEscape = true
        try escape()
      } else if byte < 0x20 {
        throw unexpected("control characters to be escaped")
      } else {
        let length = JSONText.sequence(in: bytes, at: position)
        if length == 0 { throw unexpected("valid UTF-8") }
        position += length
      }
    }
    let hint = kind == .name ? JSONText.hint(bytes, start + 1..<position, hasEscape) : 0
    append(kind, at: start, hasEscape: hasEscape, payload: JSONToken.pair(position, Int(hint)))
    position += 1
  }

  private mutating func escape() throws(WireError) {
    position += 1
    guard let byte = peek else { throw unexpected("an escape") }
    if byte != UInt8(ascii: "u") {
      if JSONText.escaped(byte) == nil { throw unexpected("an escape") }
      position += 1
      return
    }
    switch try unit() {
    case 0: throw WireError(.malformed, at: position - 6, expected: "a text without NUL", found: "one with it")
    case 0xDC00...0xDFFF: throw loneSurrogate()
    case 0xD800...0xDBFF:
      guard peek == UInt8(ascii: "\\") else { throw loneSurrogate() }
      position += 1
      guard peek == UInt8(ascii: "u"), (0xDC00...0xDFFF).contains(try unit()) else { throw loneSurrogate() }
    default: break
    }
  }

  /// The four digits after a `u`.
  private mutating func unit() throws(WireError) -> UInt32 {
    position += 1
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = JSONText.digit(byte) else { throw unexpected("four hexadecimal digits") }
      unit = unit << 4 | UInt32(digit)
      position += 1
    }
    return unit
  }

  private func loneSurrogate() -> WireError {
    WireError(.malformed, at: position, expected: "surrogates in pairs", found: "half a pair")
  }
}

/// The bytes of JSON texts.
enum JSONText {
  /// The hint of a name that must be compared by its bytes.
  static let noHint = UInt32.max

  /// The first byte from here on that is not printable ASCII that means itself.
  static func endOfPlain(in bytes: [UInt8], from start: Int) -> Int {
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
      index += 1
    }
    return index
  }

  /// Names that differ in length or in one of three bytes need no closer look.
  static func hint(_ bytes: [UInt8], _ range: Range<Int>, _ hasEscape: Bool) -> UInt32 {
    if hasEscape || range.isEmpty { return noHint }
    let middle = bytes[range.lowerBound + range.count / 2]
    let ends = UInt32(bytes[range.lowerBound]) << 16 | UInt32(bytes[range.upperBound - 1]) << 8
    return UInt32(truncatingIfNeeded: range.count & 0x7F) << 24 | ends | UInt32(middle)
  }

  /// The length of the well-formed UTF-8 sequence of two bytes or more that begins here (Unicode, table 3-7); 0 if none does.
  static func sequence(in bytes: [UInt8], at start: Int) -> Int {
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch bytes[start] {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)  // shorter forms exist below
    case 0xED: (length, second) = (3, 0x80...0x9F)  // surrogates above
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)  // shorter forms exist below
    case 0xF1...0xF3: length = 4
    case 0xF4: (length, second) = (4, 0x80...0x8F)  // beyond U+10FFFF above
    default: return 0
    }
    guard start + length <= bytes.count, second.contains(bytes[start + 1]) else { return 0 }
    for index in start + 2..<start + length where bytes[index] & 0xC0 != 0x80 { return 0 }
    return length
  }

  /// What a letter after a backslash stands for; nil if it may not stand there.
  static func escaped(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The content of a text that has passed the reader's checks.
  static func unescaped(_ raw: ArraySlice<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(raw.count)
    var index = raw.startIndex
    func unit() -> UInt32 {
      raw[index + 2..<index + 6].reduce(0) { $0 << 4 | UInt32(digit($1) ?? 0) }
    }
    while index < raw.endIndex {
      guard raw[index] == UInt8(ascii: "\\") else {
        out.append(raw[index])
        index += 1
        continue
      }
      if let byte = escaped(raw[index + 1]) {
        out.append(byte)
        index += 2
        continue
      }
      var scalar = unit()
      index += 6
      if (0xD800...0xDBFF).contains(scalar) {
        scalar = 0x1_0000 + (scalar - 0xD800) << 10 + (unit() - 0xDC00)
        index += 6
      }
      if let scalar = Unicode.Scalar(scalar) { out.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
    }
    return out
  }

  /// What a byte is, without repeating it.
  static func kind(of byte: UInt8?) -> String {
    guard let byte else { return "the end of the message" }
    return switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): "a digit"
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): "a letter"
    case UInt8(ascii: "\""): "a quote"
    case 0x00..<0x20, 0x7F: "a control character"
    case 0x80...: "a byte beyond ASCII"
    default: "another character"
    }
  }
}
