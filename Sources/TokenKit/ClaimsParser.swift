// SPDX-License-Identifier: Apache-2.0

/// A strict JSON reader (RFC 8259) for the header and the payload of a token: one object, valid UTF-8, no duplicate name
/// after unescaping, no NUL, no lone surrogate, little depth. It is the only reader, so that what is checked is what is
/// used.
struct ClaimsParser {
  /// Nothing deeper is read; tokens are flat, but some carry an object or two that nobody here looks at.
  static let maximumDepth = 8

  private let bytes: [UInt8]
  private var index = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The object that these bytes are.
  static func object(_ bytes: [UInt8]) throws(TokenError) -> ClaimsObject {
    var parser = ClaimsParser(bytes)
    guard case .object(let object) = try parser.value(depth: 1) else { throw .malformed }
    parser.skipSpace()
    guard parser.index == bytes.count else { throw .malformed }
    return object
  }

  private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func next() throws(TokenError) -> UInt8 {
    guard let byte = peek else { throw .malformed }
    index += 1
    return byte
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
  }

  /// Takes this byte if it comes next, after white space.
  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard peek == byte else { return false }
    index += 1
    return true
  }

  private mutating func value(depth: Int) throws(TokenError) -> ClaimsValue {
    guard depth <= ClaimsParser.maximumDepth else { throw .malformed }
    skipSpace()
    switch peek {
    case UInt8(ascii: "{"): return .object(try members(depth: depth))
    case UInt8(ascii: "["): return .list(try elements(depth: depth))
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func members(depth: Int) throws(TokenError) -> ClaimsObject {
    var object = ClaimsObject()
    index += 1
    if take(UInt8(ascii: "}")) { return object }
    repeat {
      skipSpace()
      guard peek == UInt8(ascii: "\"") else { throw .malformed }
      let name = try string()
      guard take(UInt8(ascii: ":")) else { throw .malformed }
      guard object.insert(try value(depth: depth + 1), as: name) else { throw .malformed }
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw .malformed }
    return object
  }

  private mutating func elements(depth: Int) throws(TokenError) -> [ClaimsValue] {
    var list: [ClaimsValue] = []
    index += 1
    if take(UInt8(ascii: "]")) { return list }
    repeat { list.append(try value(depth: depth + 1)) } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw .malformed }
    return list
  }

  private mutating func word(_ word: String, _ value: ClaimsValue) throws(TokenError) -> ClaimsValue {
    guard bytes[index...].starts(with: word.utf8) else { throw .malformed }
    index += word.utf8.count
    return value
  }

  private mutating func number() throws(TokenError) -> ClaimsValue {
    let start = index
    if peek == UInt8(ascii: "-") { index += 1 }
    let first = peek
    let whole = try digits()
    guard whole == 1 || first != UInt8(ascii: "0") else { throw .malformed }
    let end = index
    if peek == UInt8(ascii: ".") {
      index += 1
      _ = try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      index += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { index += 1 }
      _ = try digits()
    }
    guard index == end else { return .otherNumber }
    return Int64(String(decoding: bytes[start..<end], as: UTF8.self)).map(ClaimsValue.integer) ?? .otherNumber
  }

  private mutating func digits() throws(TokenError) -> Int {
    let start = index
    while let byte = peek, 0x30...0x39 ~= byte { index += 1 }
    guard index > start else { throw .malformed }
    return index - start
  }

  private mutating func string() throws(TokenError) -> [UInt8] {
    var text: [UInt8] = []
    index += 1
    while true {
      let byte = try next()
      switch byte {
      case UInt8(ascii: "\""):
        guard String(validating: text, as: UTF8.self) != nil else { throw .malformed }
        return text
      case UInt8(ascii: "\\"): try escape(into: &text)
      case 0x00..<0x20: throw .malformed
      default: text.append(byte)
      }
    }
  }

  private mutating func escape(into text: inout [UInt8]) throws(TokenError) {
    switch try next() {
    case UInt8(ascii: "\""): text.append(UInt8(ascii: "\""))
    case UInt8(ascii: "\\"): text.append(UInt8(ascii: "\\"))
    case UInt8(ascii: "/"): text.append(UInt8(ascii: "/"))
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: String(Character(try scalar())).utf8)
    default: throw .malformed
    }
  }

  private mutating func scalar() throws(TokenError) -> Unicode.Scalar {
    let unit = try codeUnit()
    guard 0xD800...0xDBFF ~= unit else {
      guard unit != 0, let scalar = Unicode.Scalar(unit) else { throw .malformed }
      return scalar
    }
    guard try next() == UInt8(ascii: "\\"), try next() == UInt8(ascii: "u") else { throw .malformed }
    let low = try codeUnit()
    guard 0xDC00...0xDFFF ~= low,
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    else { throw .malformed }
    return scalar
  }

  private mutating func codeUnit() throws(TokenError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(try next())).hexDigitValue else { throw .malformed }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }
}
