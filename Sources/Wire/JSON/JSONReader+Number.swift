// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
  /// Reads a number: an integer if it has neither point nor exponent, else a double.
  mutating func number() throws(WireError) {
    let start = position
    let isNegative = peek == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let first = position
    try digits()
    if bytes[first] == UInt8(ascii: "0"), position > first + 1 {
      position = first
      throw WireError(.malformed, at: first, expected: "a number without a leading zero", found: "one with it")
    }
    let end = position
    var isReal = false
    if peek == UInt8(ascii: ".") {
      isReal = true
      position += 1
      try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      isReal = true
      position += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
    let payload = isReal ? try real(start) : try integer(first..<end, isNegative)
    append(isReal ? .real : .integer, at: start, payload: payload)
  }

  private mutating func digits() throws(WireError) {
    let start = position
    while let byte = peek, byte &- 0x30 < 10 { position += 1 }
    if position == start { throw unexpected("a digit") }
  }

  /// An integer beyond 64 bits is refused: as a double it would be another number, and nobody would be told.
  private func integer(_ range: Range<Int>, _ isNegative: Bool) throws(WireError) -> UInt64 {
    // Nineteen digits always fit into 64 bits without a sign, and twenty never into 63.
    let largest = UInt64(Int64.max) + (isNegative ? 1 : 0)
    var magnitude: UInt64 = 0
    if range.count <= 19 {
      for index in range { magnitude = magnitude &* 10 &+ UInt64(bytes[index] &- 0x30) }
    }
    guard range.count <= 19, magnitude <= largest else {
      throw WireError(.malformed, at: range.lowerBound, expected: "an integer of 64 bits", found: "one beyond them")
    }
    return isNegative ? 0 &- magnitude : magnitude
  }

  private func real(_ start: Int) throws(WireError) -> UInt64 {
    if position - start <= JSONReader.numberBytes,
      let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)), number.isFinite
    {
      return number.bitPattern
    }
    throw WireError(.malformed, at: start, expected: "a number that a double can hold", found: "another")
  }
}
