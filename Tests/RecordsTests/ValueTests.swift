// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit
import SkerryModel
import SkerryRecords
import SkerryTestSupport
import Testing

@Suite("Swift values in columns") struct ValueTests {
  /// There and back.
  private func keeps<V: ColumnValue & Equatable>(
    _ value: V, as stored: Value, _ place: SourceLocation = #_sourceLocation
  )
    throws
  {
    #expect(try value.columnValue == stored, sourceLocation: place)
    #expect(try V(columnValue: stored) == value, sourceLocation: place)
  }

  @Test func `each type goes into a column and comes back`() throws {
    try keeps("é\u{301}\u{212A}", as: "é\u{301}\u{212A}")
    try keeps("", as: "")
    try keeps(Int64.min, as: .integer(.min))
    try keeps(Int.max, as: .integer(.max))
    try keeps(Int32(-7), as: -7)
    try keeps(true, as: 1)
    try keeps(0.1, as: 0.1)
    try keeps([UInt8]([0, 255]), as: .blob([0, 255]))
    try keeps(Data([0, 255]), as: .blob([0, 255]))
    try keeps(Date(timeIntervalSince1970: -1.5), as: -1_500)
    try keeps(RowID<Crm.Team>("a"), as: "a")
    try keeps(Crm.Role.owner, as: "owner")
    try keeps(String?.none, as: nil)
    try keeps(Int?.some(3), as: 3)
    let id = try #require(UUID(uuidString: "0190B5A0-0000-7000-8000-00000000000A"))
    try keeps(id, as: "0190b5a0-0000-7000-8000-00000000000a")
    try keeps(try #require(CalendarDate("2024-02-29")), as: "2024-02-29")
    try keeps(try #require(Decimal(string: "-12.5")), as: "-12.5")
    try keeps(
      try #require(Decimal(string: "12345678901234567890123456789012345678")),
      as: "12345678901234567890123456789012345678")
  }

  @Test func `a decimal keeps every digit that it has, and no digit that it has not`() throws {
    #expect(try Decimal(columnValue: "0.1").columnValue == "0.1")
    #expect(try Decimal(columnValue: "0.30").columnValue == "0.3")
    #expect(throws: ColumnFault.self) { try Decimal(columnValue: "1234567890123456789012345678901234567890123") }
    #expect(throws: ColumnFault.self) { try Decimal(columnValue: "1,5") }
    #expect(throws: ColumnFault.self) { try Decimal.nan.columnValue }
  }

  @Test func `a moment is held in whole milliseconds`() throws {
    #expect(try Date(timeIntervalSince1970: 1.000_4).columnValue == 1_000)
    #expect(try Date(timeIntervalSince1970: 1.000_6).columnValue == 1_001)
    #expect(throws: ColumnFault.self) { try Date(timeIntervalSince1970: .infinity).columnValue }
  }

  @Test func `a day is a day of the calendar`() throws {
    #expect(CalendarDate(year: 2024, month: 2, day: 29)?.description == "2024-02-29")
    #expect(CalendarDate(year: 7, month: 1, day: 2)?.description == "0007-01-02")
    for text in ["2023-02-29", "2024-13-01", "2024-1-1", "24-01-01", "2024-01-01T00:00", ""] {
      #expect(CalendarDate(text) == nil, "\(text)")
    }
    #expect(CalendarDate(year: 20_240, month: 1, day: 1) == nil)
    let days = ["2024-02-01", "2023-12-31", "2024-01-31"].compactMap { CalendarDate($0) }
    #expect(days.sorted().map(\.description) == ["2023-12-31", "2024-01-31", "2024-02-01"])
    let data = try JSONEncoder().encode(days)
    #expect(try JSONDecoder().decode([CalendarDate].self, from: data) == days)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([CalendarDate].self, from: Data(#"["x"]"#.utf8)) }
  }

  /// Each type against a value of each other class.
  @Test func `what is of another class is refused, and the value is not told`() throws {
    let secret = "s3cret"
    func refuses<V: ColumnValue>(_ type: V.Type, _ values: [Value]) {
      for value in values {
        let error = #expect(throws: ColumnFault.self, "\(type) \(value)") { try V(columnValue: value) }
        #expect(error?.description.contains(secret) == false)
      }
    }
    let all: [Value] = [nil, 1, 1.5, .text(secret), .blob([1])]
    refuses(String.self, all.filter { $0.text == nil })
    refuses(Int.self, [nil, 1.5, .text(secret), .blob([1])])
    refuses(Int32.self, [.integer(1 << 40), nil])
    refuses(Bool.self, [nil, 2, 1.5, .text(secret)])
    refuses(Double.self, [nil, .text(secret), 9_007_199_254_740_993])
    refuses([UInt8].self, [nil, 1, .text(secret)])
    refuses(Data.self, [nil, 1, .text(secret)])
    refuses(Date.self, [nil, 1.5, .text(secret)])
    refuses(UUID.self, [nil, 1, .text(secret)])
    refuses(Decimal.self, [nil, 1, .text(secret)])
    refuses(CalendarDate.self, [nil, 1, .text(secret)])
    refuses(Crm.Role.self, [nil, 1, .text(secret)])
    refuses(RowID<Crm.Team>.self, [nil, 1])
    refuses(Int?.self, [.text(secret)])
  }

  @Test func `ids are compared by bytes, and new ones differ`() throws {
    #expect(RowID<Crm.Team>("é") != RowID<Crm.Team>("e\u{301}"))
    #expect(RowID<Crm.Team>("K") != RowID<Crm.Team>("\u{212A}"))
    #expect(RowID<Crm.Team>() != RowID<Crm.Team>())
    let id = RowID<Crm.Team>()
    #expect(try JSONDecoder().decode([RowID<Crm.Team>].self, from: JSONEncoder().encode([id])) == [id])
    #expect(UUID(uuidString: id.text) != nil)
    #expect(id.text == id.text.lowercased())
  }

  @Test func `a world decides the ids that are made in it`() throws {
    struct Fixed: Ambient {
      func now() -> Int64 { 0x1234 }
      func random() -> UInt64 { 7 }
    }
    let ids = IDSource.$ambient.withValue(Fixed()) { [RowID<Crm.Team>(), RowID<Crm.Team>()] }
    #expect(ids[0] == ids[1])
    #expect(ids[0].text.hasPrefix("00000000-1234-7007-"))
  }
}
