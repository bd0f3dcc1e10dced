// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Date: ColumnValue {
  /// Milliseconds since 1970.
  public static var columnTypes: [ColumnType] { [.timestamp] }
  /// Two moments.
  public static var examples: [Date] { [Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 2)] }

  /// The moment in milliseconds since 1970, rounded: what is finer is lost at the write.
  public var columnValue: Value {
    get throws(ColumnFault) {
      guard let time = Int64(exactly: (timeIntervalSince1970 * 1_000).rounded()) else {
        throw ColumnFault("a moment that fits into 64 bits of milliseconds wanted")
      }
      return .integer(time)
    }
  }

  /// Reads milliseconds since 1970.
  public init(columnValue: Value) throws(ColumnFault) {
    self.init(timeIntervalSince1970: Double(try Int64(columnValue: columnValue)) / 1_000)
  }
}

extension UUID: ColumnValue {
  /// A UUID, or a text that is one.
  public static var columnTypes: [ColumnType] { [.uuid, .text] }

  /// Two ids.
  public static var examples: [UUID] {
    [1, 2].map { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0)) }
  }

  /// Its text in lower case, as every system writes it but one.
  public var columnValue: Value { .text(uuidString.lowercased()) }

  /// Reads a text.
  public init(columnValue: Value) throws(ColumnFault) {
    guard let id = UUID(uuidString: try String(columnValue: columnValue)) else {
      throw ColumnFault("a UUID wanted, another text found")
    }
    self = id
  }
}

extension Data: ColumnValue {
  /// A blob.
  public static var columnTypes: [ColumnType] { [.blob] }
  /// Two byte strings.
  public static var examples: [Data] { [Data([1]), Data([2])] }
  /// The bytes.
  public var columnValue: Value { .blob([UInt8](self)) }

  /// Reads a blob.
  public init(columnValue: Value) throws(ColumnFault) { self.init(try [UInt8](columnValue: columnValue)) }
}

extension Decimal: ColumnValue {
  /// A decimal.
  public static var columnTypes: [ColumnType] { [.decimal] }
  /// Two numbers.
  public static var examples: [Decimal] { [1, 2] }

  /// Its digits, without needless zeros.
  public var columnValue: Value {
    get throws(ColumnFault) {
      if isNaN { throw ColumnFault("a number wanted, NaN found") }
      return .text(description)
    }
  }

  /// Reads a decimal of at most 38 digits.
  public init(columnValue: Value) throws(ColumnFault) {
    let text = try String(columnValue: columnValue)
    // Foundation reads what it can of any text, and rounds what it cannot hold.
    let digits = text.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ".") }
    let zero = UInt8(ascii: "0")
    let significant = digits.drop { $0 == zero }.reversed().drop { $0 == zero }.count
    guard Forms.isDecimal(text), significant <= 38, let number = Decimal(string: text) else {
      throw ColumnFault("a decimal of at most 38 digits wanted, another text found")
    }
    self = number
  }
}
