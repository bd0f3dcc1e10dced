// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

extension String: ColumnValue {
  /// A text, or what travels as one.
  public static var columnTypes: [ColumnType] { [.text, .json, .decimal, .date, .uuid] }
  /// Two texts.
  public static var examples: [String] { ["a", "b"] }
  /// The text.
  public var columnValue: Value { .text(self) }

  /// Reads a text.
  public init(columnValue: Value) throws(ColumnFault) {
    guard case .text(let text) = columnValue else { throw .mismatch("text", columnValue) }
    self = text
  }
}

extension Int64: ColumnValue {
  /// An integer, or milliseconds since 1970.
  public static var columnTypes: [ColumnType] { [.integer, .timestamp] }
  /// Two numbers.
  public static var examples: [Int64] { [1, 2] }
  /// The number.
  public var columnValue: Value { .integer(self) }

  /// Reads an integer.
  public init(columnValue: Value) throws(ColumnFault) {
    guard case .integer(let number) = columnValue else { throw .mismatch("an integer", columnValue) }
    self = number
  }
}

extension Int: ColumnValue {
  /// An integer, or milliseconds since 1970.
  public static var columnTypes: [ColumnType] { [.integer, .timestamp] }
  /// Two numbers.
  public static var examples: [Int] { [1, 2] }
  /// The number.
  public var columnValue: Value { .integer(Int64(self)) }

  /// Reads an integer that fits.
  public init(columnValue: Value) throws(ColumnFault) {
    guard let number = Int(exactly: try Int64(columnValue: columnValue)) else {
      throw ColumnFault("an integer that an Int holds wanted, a larger one found")
    }
    self = number
  }
}

extension Int32: ColumnValue {
  /// An integer.
  public static var columnTypes: [ColumnType] { [.integer] }
  /// Two numbers.
  public static var examples: [Int32] { [1, 2] }
  /// The number.
  public var columnValue: Value { .integer(Int64(self)) }

  /// Reads an integer that fits.
  public init(columnValue: Value) throws(ColumnFault) {
    guard let number = Int32(exactly: try Int64(columnValue: columnValue)) else {
      throw ColumnFault("an integer of 32 bits wanted, a larger one found")
    }
    self = number
  }
}

extension Bool: ColumnValue {
  /// A boolean.
  public static var columnTypes: [ColumnType] { [.boolean] }
  /// Both.
  public static var examples: [Bool] { [true, false] }
  /// 1 or 0.
  public var columnValue: Value { .integer(self ? 1 : 0) }

  /// Reads 1 or 0.
  public init(columnValue: Value) throws(ColumnFault) {
    switch columnValue {
    case .integer(0): self = false
    case .integer(1): self = true
    default: throw .mismatch("0 or 1", columnValue)
    }
  }
}

extension Double: ColumnValue {
  /// A real.
  public static var columnTypes: [ColumnType] { [.real] }
  /// Two numbers.
  public static var examples: [Double] { [0.5, 1.5] }
  /// The number; whether it is finite is checked at the write.
  public var columnValue: Value { .real(self) }

  /// Reads a real, or an integer that a double holds exactly, such as the sum of an empty set.
  public init(columnValue: Value) throws(ColumnFault) {
    switch columnValue {
    case .real(let number): self = number
    case .integer(let number):
      guard let exact = Double(exactly: number) else {
        throw ColumnFault("a real wanted, an integer found that no double equals")
      }
      self = exact
    default: throw .mismatch("a real", columnValue)
    }
  }
}

extension [UInt8]: ColumnValue {
  /// A blob.
  public static var columnTypes: [ColumnType] { [.blob] }
  /// Two byte strings.
  public static var examples: [[UInt8]] { [[1], [2]] }
  /// The bytes.
  public var columnValue: Value { .blob(self) }

  /// Reads a blob.
  public init(columnValue: Value) throws(ColumnFault) {
    guard case .blob(let bytes) = columnValue else { throw .mismatch("a blob", columnValue) }
    self = bytes
  }
}
