// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not the CBOR that was expected.
package enum CBORError: Error, Equatable {
  case truncated
  case notShortest
  case unexpected(String)
  case invalidText
  case trailing
}

/// Reads the deterministic CBOR that `CBORWriter` writes, and nothing looser: a longer head, an indefinite length or a
/// longer float than needed is an error, so that equal values always have equal bytes.
package struct CBORReader {
  private let bytes: [UInt8]
  private var position = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var isAtEnd: Bool { position == bytes.count }

  package func end() throws(CBORError) { if !isAtEnd { throw .trailing } }

  private mutating func take(_ count: Int) throws(CBORError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= bytes.count - position else { throw .truncated }
    defer { position += count }
    return bytes[position..<position + count]
  }

  private mutating func number(_ count: Int) throws(CBORError) -> UInt64 {
    try take(count).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func head() throws(CBORError) -> (major: UInt8, argument: UInt64) {
    guard let first = try take(1).first else { throw .truncated }
    let major = first >> 5
    let low = first & 31
    guard major != 7 else { return (7, UInt64(low)) }
    let argument: UInt64
    switch low {
    case 0..<24: argument = UInt64(low)
    case 24:
      argument = try number(1)
      if argument < 24 { throw .notShortest }
    case 25:
      argument = try number(2)
      if argument <= 0xFF { throw .notShortest }
    case 26:
      argument = try number(4)
      if argument <= 0xFFFF { throw .notShortest }
    case 27:
      argument = try number(8)
      if argument <= 0xFFFF_FFFF { throw .notShortest }
    default: throw .unexpected("indefinite length")
    }
    return (major, argument)
  }

  private mutating func count(_ major: UInt8, _ name: String) throws(CBORError) -> Int {
    let head = try head()
    guard head.major == major else { throw .unexpected("\(name) wanted, major type \(head.major) found") }
    guard head.argument <= UInt64(bytes.count) else { throw .truncated }  // each element takes a byte at least
    return Int(head.argument)
  }

  package mutating func array() throws(CBORError) -> Int { try count(4, "array") }

  package mutating func map() throws(CBORError) -> Int { try count(5, "map") }

  /// An array whose length is known.
  package mutating func array(of expected: Int) throws(CBORError) {
    let found = try array()
    if found != expected { throw .unexpected("array of \(expected) wanted, of \(found) found") }
  }

  package mutating func blob() throws(CBORError) -> [UInt8] { Array(try take(try count(2, "byte string"))) }

  package mutating func text() throws(CBORError) -> String {
    guard let text = String(validating: try take(try count(3, "text")), as: UTF8.self) else { throw .invalidText }
    return text
  }

  package mutating func integer() throws(CBORError) -> Int64 {
    guard case .integer(let number) = try value() else { throw .unexpected("integer wanted") }
    return number
  }

  package mutating func bool() throws(CBORError) -> Bool {
    switch try take(1).first {
    case 0xF5: return true
    case 0xF4: return false
    default: throw .unexpected("boolean wanted")
    }
  }

  /// Whether the next item is null, which is then consumed.
  package mutating func isNull() -> Bool {
    guard position < bytes.count, bytes[position] == 0xF6 else { return false }
    position += 1
    return true
  }

  package mutating func values() throws(CBORError) -> [Value] {
    let count = try array()
    var out: [Value] = []
    out.reserveCapacity(count)
    for _ in 0..<count { out.append(try value()) }
    return out
  }

  package mutating func value() throws(CBORError) -> Value {
    let start = position
    let head = try head()
    switch head.major {
    case 0, 1:
      guard head.argument <= UInt64(Int64.max) else { throw .unexpected("integer beyond 64 bits") }
      return .integer(head.major == 0 ? Int64(head.argument) : -1 - Int64(head.argument))
    case 2:
      position = start
      return .blob(try blob())
    case 3:
      position = start
      return .text(try text())
    case 7: return try simple(UInt8(head.argument))
    default: throw .unexpected("a value wanted, major type \(head.major) found")
    }
  }

  private mutating func simple(_ low: UInt8) throws(CBORError) -> Value {
    let number: Double
    switch low {
    case 22: return .null
    case 25: number = Half.value(of: UInt16(try self.number(2)))
    case 26: number = Double(Float(bitPattern: UInt32(try self.number(4))))
    case 27: number = Double(bitPattern: try self.number(8))
    default: throw .unexpected("simple value \(low)")
    }
    guard number.isFinite else { throw .unexpected("a number that is not finite") }
    var shortest = CBORWriter()
    shortest.real(number)
    guard shortest.bytes[0] & 31 == low else { throw .notShortest }
    return .real(number)
  }
}
