// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit

extension SeededGenerator {
  /// A text of characters that have troubled somebody before.
  mutating func text() -> String {
    let pieces = [
      "a", "Z", "0", " ", "\"", "\\", "/", "\n", "\r\n", "\t", "\u{1}", "\u{7F}", "é", "e\u{301}", "\u{212A}", "K",
      "👩‍👩‍👧‍👦", "🇩🇪", "\u{FEFF}", "\u{200B}", "\u{2028}", "\u{FFFD}", "\u{10FFFF}", "ﬀ", "لا", "漢", "\u{301}", "\u{E000}",
    ]
    return (0..<Int.random(in: 0...12, using: &self)).map { _ in pieces.randomElement(using: &self) ?? "" }.joined()
  }

  mutating func integer() -> Int64 {
    let edges: [Int64] = [.min, .min + 1, -1, 0, 1, 9_007_199_254_740_991, 9_007_199_254_740_993, .max - 1, .max]
    let any = Int64(bitPattern: next())
    return Bool.random(using: &self)
      ? edges.randomElement(using: &self) ?? 0 : any >> Int64.random(in: 0...63, using: &self)
  }

  /// Any finite double but -0.0.
  mutating func real() -> Double {
    let edges = [
      Double.leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
      .ulpOfOne,
      .pi, 0.1, 1e21, 1e-7, 9_007_199_254_740_992, Double.leastNonzeroMagnitude, Double.leastNormalMagnitude.nextDown,
      1e16, 123_456_789.123_456_78, 100,
    ]
    if Bool.random(using: &self) { return edges.randomElement(using: &self) ?? 0 }
    let number = Double(bitPattern: next())
    return number.isFinite && number != 0 ? number : 0
  }

  mutating func blob() -> [UInt8] {
    (0..<Int.random(in: 0...40, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
  }
}
