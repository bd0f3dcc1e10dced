// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

/// A day of the calendar, without a time or a time zone: a birthday, the date of an invoice. It is the same day everywhere.
public struct CalendarDate: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// 1 to 9999.
  public let year: Int
  /// 1 to 12.
  public let month: Int
  /// 1 to 31.
  public let day: Int

  /// A day; nil if the calendar has no such day.
  public init?(year: Int, month: Int, day: Int) {
    func digits(_ number: Int, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
    self.init("\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))")
  }

  /// Reads `YYYY-MM-DD`; nil if it is no day.
  public init?(_ text: String) {
    guard Forms.isDate(text) else { return nil }
    let parts = text.split(separator: "-").compactMap { Int($0) }
    (year, month, day) = (parts[0], parts[1], parts[2])
    description = text
  }

  /// `YYYY-MM-DD`.
  public let description: String

  /// By the calendar.
  public static func < (left: CalendarDate, right: CalendarDate) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }
}

extension CalendarDate: ColumnValue {
  /// A date.
  public static var columnTypes: [ColumnType] { [.date, .text] }
  /// Two days.
  public static var examples: [CalendarDate] { ["2000-01-01", "2000-01-02"].compactMap { CalendarDate($0) } }
  /// `YYYY-MM-DD`.
  public var columnValue: Value { .text(description) }

  /// Reads `YYYY-MM-DD`.
  public init(columnValue: Value) throws(ColumnFault) {
    guard let date = CalendarDate(try String(columnValue: columnValue)) else {
      throw ColumnFault("a date written YYYY-MM-DD wanted, another text found")
    }
    self = date
  }
}

extension CalendarDate: Codable {
  /// Reads `YYYY-MM-DD`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let date = CalendarDate(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "a date is written YYYY-MM-DD")
    }
    self = date
  }

  /// Writes `YYYY-MM-DD`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
