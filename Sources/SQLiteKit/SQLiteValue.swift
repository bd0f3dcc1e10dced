// SPDX-License-Identifier: Apache-2.0

/// A value as SQLite stores it. Texts are compared by their bytes.
public enum SQLiteValue: Sendable {
  /// NULL.
  case null
  /// INTEGER.
  case integer(Int64)
  /// REAL.
  case real(Double)
  /// TEXT, valid UTF-8.
  case text(String)
  /// BLOB.
  case blob([UInt8])
}

extension SQLiteValue: Equatable {
  /// Whether both have the same storage class and content.
  public static func == (left: SQLiteValue, right: SQLiteValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
    case (.blob(let a), .blob(let b)): a == b
    default: false
    }
  }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
  /// INTEGER.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// TEXT.
  public init(stringLiteral value: String) { self = .text(value) }
  /// NULL.
  public init(nilLiteral: ()) { self = .null }
}
