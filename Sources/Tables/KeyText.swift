// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// A row's key as SQL text: the `quote()` of each key column, joined by commas.
///
/// A trigger can compute it on any connection, without a function of ours that other programs would lack, and it is as
/// unambiguous as SQL literals are.
package enum KeyText {
  /// The expression that gives a row's key text; `prefix` is `NEW`, `OLD` or a table's name.
  package static func expression(_ table: TableInfo, prefix: String) -> String {
    table.definition.key.map { "quote(\(prefix).\(TableSQL.quoted($0)))" }.joined(separator: " || ',' || ")
  }

  /// The text of these values, as `quote()` writes them.
  package static func text(_ values: [Value]) -> String {
    if values.count == 1, case .text(let text) = values[0] { return quoted(text) }
    return values.map { value in
      switch value {
      case .null: "NULL"
      case .integer(let number): String(number)
      case .real(let number): String(number)
      case .text(let text): quoted(text)
      case .blob(let bytes): "X'" + Hex.text(bytes).uppercased() + "'"
      }
    }.joined(separator: ",")
  }

  /// Doubles each apostrophe, by bytes: one with a combining mark behind it is another `Character`, but SQLite's all the same.
  private static func quoted(_ text: String) -> String {
    let quote = UInt8(ascii: "'")
    guard text.utf8.contains(quote) else { return "'" + text + "'" }
    var out = [quote]
    for byte in text.utf8 {
      if byte == quote { out.append(byte) }
      out.append(byte)
    }
    out.append(quote)
    return String(decoding: out, as: UTF8.self)
  }

  /// Reads a key text; nil for anything that `quote()` does not write for a key.
  package static func values(_ text: String) -> [Value]? {
    let units = Array(text.utf8)
    var position = 0
    var out: [Value] = []
    while true {
      guard let value = next(units, &position) else { return nil }
      out.append(value)
      if position == units.count { return out }
      guard units[position] == UInt8(ascii: ",") else { return nil }
      position += 1
    }
  }

  private static func next(_ units: [UInt8], _ position: inout Int) -> Value? {
    guard position < units.count else { return nil }
    switch units[position] {
    case UInt8(ascii: "'"): return quoted(units, &position).map { .text(String(decoding: $0, as: UTF8.self)) }
    case UInt8(ascii: "X"):
      position += 1
      guard let digits = quoted(units, &position), let bytes = bytes(digits) else { return nil }
      return .blob(bytes)
    default:
      let start = position
      while position < units.count, units[position] != UInt8(ascii: ",") { position += 1 }
      return Int64(String(decoding: units[start..<position], as: UTF8.self)).map { .integer($0) }
    }
  }

  private static func quoted(_ units: [UInt8], _ position: inout Int) -> [UInt8]? {
    let quote = UInt8(ascii: "'")
    guard position < units.count, units[position] == quote else { return nil }
    position += 1
    var out: [UInt8] = []
    while position < units.count {
      if units[position] == quote {
        position += 1
        guard position < units.count, units[position] == quote else { return out }
      }
      out.append(units[position])
      position += 1
    }
    return nil
  }

  private static func bytes(_ digits: [UInt8]) -> [UInt8]? {
    guard digits.count % 2 == 0 else { return nil }
    var out: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else { return nil }
      out.append(byte)
    }
    return out
  }
}
