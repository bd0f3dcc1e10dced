// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel

/// The bytes of a text of hexadecimal digits.
func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
  return stride(from: 0, to: digits.count - digits.count % 2, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension SeededGenerator {
  /// Any value that a column may hold, with the edges of each class more often than chance has them.
  mutating func value() -> Value {
    switch Int.random(in: 0...7, using: &self) {
    case 0: return nil
    case 1: return .integer(Int64(bitPattern: next()) >> Int64.random(in: 0...63, using: &self))
    case 2: return [.integer(.min), .integer(.max), 9_007_199_254_740_993, 0, -1].randomElement(using: &self) ?? nil
    case 3:
      let number = Double(bitPattern: next())
      return .real(number.isFinite ? number : 0.5)
    case 4: return .real(Double(Int16.random(in: -2_000...2_000, using: &self)) / 8)
    case 5: return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: next()) & 0x7F7F_FFFF)))
    case 6: return .text(text())
    default:
      return .blob((0..<Int.random(in: 0...40, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) })
    }
  }

  mutating func text() -> String {
    let pieces = ["a", "\u{1}", "é", "e\u{301}", "\u{212A}", "K", "👩‍👩‍👧‍👦", "\u{FEFF}", "\u{10FFFF}", "漢", "\"", "\\"]
    return (0..<Int.random(in: 0...20, using: &self)).map { _ in pieces.randomElement(using: &self) ?? "" }.joined()
  }
}
