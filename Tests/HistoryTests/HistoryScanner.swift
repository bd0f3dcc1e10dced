// SPDX-License-Identifier: Apache-2.0

/// Reads one line of a history, byte by byte: the lines are many, and each is read once.
struct HistoryScanner {
  private let bytes: [UInt8]
  private var position: Int
  private let end: Int

  init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  init(_ text: String) {
    let bytes = Array(text.utf8)
    self.init(bytes, 0..<bytes.count)
  }

  var isAtEnd: Bool { position == end }

  /// The byte at which it stands; 0 behind the last.
  var next: UInt8 { position < end ? bytes[position] : 0 }

  /// The byte behind that one; 0 behind the last.
  var second: UInt8 { position + 1 < end ? bytes[position + 1] : 0 }

  /// Whether it stands at the character, which is then passed.
  mutating func takes(_ character: Unicode.Scalar) -> Bool {
    guard position < end, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// Whether there is another token, at which it then stands.
  mutating func startsToken() -> Bool { takes(" ") }

  mutating func take() throws -> UInt8 {
    guard position < end else { throw Difference("the line ends too early") }
    position += 1
    return bytes[position - 1]
  }

  var isAtDigit: Bool { next >= UInt8(ascii: "0") && next <= UInt8(ascii: "9") }

  mutating func number() throws -> Int {
    let isNegative = takes("-")
    guard isAtDigit else { throw Difference("a number wanted at \(rest)") }
    var value = 0
    while isAtDigit {
      value = value * 10 + Int(bytes[position] - UInt8(ascii: "0"))
      position += 1
    }
    return isNegative ? -value : value
  }

  /// Everything up to a blank, a comma, a parenthesis or the end.
  mutating func word() -> String {
    let start = position
    while position < end, !HistoryScanner.isStop(bytes[position]) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static func isStop(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "(") || byte == UInt8(ascii: ")")
  }

  /// A text between quotation marks, the first of which has been passed.
  mutating func quoted() -> String {
    let start = position
    while position < end, bytes[position] != UInt8(ascii: "\"") { position += 1 }
    defer { position = min(position + 1, end) }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// Letter, number and, in a name that was given anew, `~` and another number.
  mutating func reference() throws -> String {
    let start = position
    position += 1
    _ = try number()
    if takes("~") { _ = try number() }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// What has not been read, for messages.
  var rest: String { String(decoding: bytes[position..<end], as: UTF8.self) }
}
