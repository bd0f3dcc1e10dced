// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel

/// Values of each column type: mostly ordinary ones with a mark in them, now and then those that break things.
enum ValueMaker {
  /// A key of a small pool.
  static func key(_ type: ColumnType, _ number: UInt64) -> Value {
    switch type {
    case .integer, .timestamp: .integer(Int64(number))
    case .boolean: .integer(Int64(number % 2))
    case .real: .real(Double(number) + 0.5)
    case .blob: .blob([UInt8(number % 256)])
    case .text, .json: .text("x\(number)")
    case .decimal: .text("\(number)")
    case .date: .text(date(number))
    case .uuid: .text(uuid(number))
    }
  }

  static func value(_ type: ColumnType, _ random: inout SeededGenerator) -> Value {
    let number = random.next()
    let isOdd = random.next() % 12 == 0
    switch type {
    case .text: return .text(isOdd ? oddTexts[Int(number % UInt64(oddTexts.count))] + mark(number) : mark(number))
    case .json: return .text("{\"mark\":\"\(mark(number))\"}")
    case .integer: return .integer(isOdd ? oddIntegers[Int(number % UInt64(oddIntegers.count))] : Int64(number % 1_000))
    case .timestamp: return .integer(1_800_000_000_000 + Int64(number % 1_000_000_000))
    case .boolean: return .integer(Int64(number % 2))
    case .real: return .real(isOdd ? oddReals[Int(number % UInt64(oddReals.count))] : Double(number % 10_000) / 8)
    case .blob: return .blob(isOdd ? [] : Array(mark(number).utf8))
    case .decimal: return .text("\(Int64(number % 100_000)).\(1 + number % 9)")
    case .date: return .text(date(number % 20_000))
    case .uuid: return .text(uuid(number))
    }
  }

  /// A text that is written once in a run: `~` and sixteen digits.
  static func mark(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return "~" + String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The marks in some bytes.
  static func marks(in bytes: [UInt8]) -> Set<String> {
    var out: Set<String> = []
    var index = 0
    while let start = bytes[index...].firstIndex(of: UInt8(ascii: "~")) {
      let end = start + 17
      if end <= bytes.count, bytes[(start + 1)..<end].allSatisfy(isHexDigit) {
        out.insert(String(decoding: bytes[start..<end], as: UTF8.self))
      }
      index = start + 1
    }
    return out
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) || (97...102).contains(byte) }

  // Composed and decomposed, the KELVIN SIGN, a joined emoji, right to left, what JSON escapes, an empty text, a long one.
  private static let oddTexts = [
    "é", "e\u{301}", "\u{212A}", "👩‍👩‍👧", "שלום", "\"\\\u{8}\n", "", String(repeating: "long ", count: 120),
  ]
  private static let oddIntegers: [Int64] = [.max, .min, 0, -1, 9_007_199_254_740_993]
  private static let oddReals: [Double] = [0, .leastNonzeroMagnitude, 1.7976931348623157e308, -0.1, 1e-7]

  private static func uuid(_ number: UInt64) -> String {
    let digits = String(number & 0xFFFF_FFFF_FFFF, radix: 16)
    return "00000000-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  private static func date(_ number: UInt64) -> String {
    func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(1970 + number / 336 % 90)-\(two(1 + number / 28 % 12))-\(two(1 + number % 28))"
  }
}
