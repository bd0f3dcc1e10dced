// SPDX-License-Identifier: Apache-2.0

/// A column's value, in SQLite's five storage classes. Equality is by class and bytes: `1` is not `1.0`, and texts are
/// compared as UTF-8.
public enum Value: Sendable {
  /// No value.
  case null
  /// A 64-bit signed integer.
  case integer(Int64)
  /// A finite double; never -0.0, NaN or an infinity once it has passed a check.
  case real(Double)
  /// Valid UTF-8 without NUL.
  case text(String)
  /// Any bytes.
  case blob([UInt8])
}

extension Value: Hashable {
  /// Whether both have the same class and the same bytes.
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern
    case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
    case (.blob(let a), .blob(let b)): a == b
    default: false
    }
  }

  /// Hashes class and bytes.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0 as UInt8)
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value.bitPattern)
    case .text(let value): hasher.combine(bytesOf: value)
    case .blob(let value): hasher.combine(value)
    }
  }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByNilLiteral
{
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A double.
  public init(floatLiteral value: Double) { self = .real(value) }
  /// A text.
  public init(stringLiteral value: String) { self = .text(value) }
  /// No value.
  public init(nilLiteral: ()) { self = .null }
}

extension Value {
  /// The text; nil for any other class.
  public var text: String? { if case .text(let text) = self { text } else { nil } }
  /// The integer; nil for any other class.
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// Whether there is no value.
  public var isNull: Bool { if case .null = self { true } else { false } }

  /// The most bytes that it takes in a message. JSON is the longest form: it writes a control character as six bytes, and a
  /// blob as four for three.
  package var messageBytes: Int {
    switch self {
    case .null, .integer, .real: 32
    case .text(var text):
      text.withUTF8 { $0.reduce(32) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x5C ? 2 : 1) } }
    case .blob(let bytes): 48 + bytes.count * 4 / 3
    }
  }

  /// The bytes that this value counts against limits.
  package var byteCount: Int {
    switch self {
    case .null: 1
    case .integer, .real: 9
    case .text(let text): text.utf8.count + 5
    case .blob(let bytes): bytes.count + 5
    }
  }
}
