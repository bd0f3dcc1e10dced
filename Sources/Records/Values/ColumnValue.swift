// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

/// A Swift type whose values a column can hold.
///
/// Conforming are `String`, `Int`, `Int64`, `Int32`, `Double`, `Bool`, `[UInt8]`, `RowID`, `CalendarDate`, `Date`, `UUID`, `Data`,
/// `Decimal`, and optionals of them. An enumeration with raw values needs no more than to say so:
///
/// ```swift
/// enum Stage: String, CaseIterable, ColumnValue { case draft, sent, accepted }
/// ```
///
/// Any other `Codable` type can be held as JSON (`Column(_:_:_:)` with `.json`).
public protocol ColumnValue: Sendable {
  /// The types of columns that can hold it; the first is the one that is meant if nothing is said.
  static var columnTypes: [ColumnType] { get }
  /// Whether it stands for null, too: only an optional does.
  static var acceptsNull: Bool { get }
  /// Two values that differ, with which a declaration is tried out. One is enough if there are no two.
  static var examples: [Self] { get }
  /// The value as a column holds it.
  ///
  /// - Throws: `ColumnFault` if no column can.
  var columnValue: Value { get throws(ColumnFault) }
  /// Reads what a column holds.
  ///
  /// - Throws: `ColumnFault` if it is no such value.
  init(columnValue: Value) throws(ColumnFault)
}

/// Why a value cannot be written into a column, or read from one. It names no value.
public struct ColumnFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was expected, and what was found.
  public let description: String

  /// - Parameter description: what was expected, and what was found; without the value itself.
  public init(_ description: String) { self.description = description }

  static func mismatch(_ wanted: String, _ found: Value) -> ColumnFault {
    ColumnFault("\(wanted) wanted, \(found.className) found")
  }
}

extension ColumnValue {
  /// Only an optional stands for null.
  public static var acceptsNull: Bool { false }
}

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
  /// Those of the raw value.
  public static var columnTypes: [ColumnType] { RawValue.columnTypes }

  /// The raw value.
  public var columnValue: Value {
    get throws(ColumnFault) { try rawValue.columnValue }
  }

  /// The case with this raw value. Implement it yourself to read one that a newer version of the app has written as a case of
  /// your own: an edit of other columns leaves the value as it is.
  public init(columnValue: Value) throws(ColumnFault) {
    guard let value = Self(rawValue: try RawValue(columnValue: columnValue)) else {
      throw ColumnFault("a case of \(Self.self) wanted, an unknown raw value found")
    }
    self = value
  }
}

extension ColumnValue where Self: CaseIterable {
  /// The first two cases.
  public static var examples: [Self] { Array(allCases.prefix(2)) }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  /// Those of the wrapped type.
  public static var columnTypes: [ColumnType] { Wrapped.columnTypes }
  /// It does.
  public static var acceptsNull: Bool { true }
  /// Those of the wrapped type.
  public static var examples: [Self] { Wrapped.examples.map { $0 } }

  /// Null if there is none.
  public var columnValue: Value {
    get throws(ColumnFault) {
      switch self {
      case .none: .null
      case .some(let value): try value.columnValue
      }
    }
  }

  /// None for null.
  public init(columnValue: Value) throws(ColumnFault) {
    self = columnValue.isNull ? .none : .some(try Wrapped(columnValue: columnValue))
  }
}
