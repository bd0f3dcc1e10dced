// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import Testing

@Suite("Operations against the schema") struct OperationCheckTests {
  private static let life = Incarnation(tag: VersionTag(raw: Bytes16(high: 1, low: 2)), index: 3)
  private static let person = RowKey("people", "p1")
  private let catalog: Catalog

  init() throws { catalog = try Shop.catalog() }

  private static func insert(_ fields: Field...) -> Operation { Operation(person, nil, .insert(fields)) }

  private static func set(_ fields: Field...) -> Operation { Operation(person, life, .set(fields, base: nil)) }

  static let accepted: [(before: Operation, after: Operation)] = [
    (insert(Field("name", "A")), insert(Field("name", "A"))),
    (insert(Field("team", "t"), Field("name", "A")), insert(Field("name", "A"), Field("team", "t"))),
    (insert(Field("name", "A"), Field("id", "p1")), insert(Field("name", "A"))),
    (insert(Field("name", "A"), Field("visits", 5)), insert(Field("name", "A"), Field("visits", 5))),
    (insert(Field("name", "A"), Field("score", nil)), insert(Field("name", "A"), Field("score", nil))),
    (set(Field("score", .real(-0.0))), set(Field("score", 0.0))), (set(Field("score", 3)), set(Field("score", 3.0))),
    (set(Field("team", nil), Field("name", "")), set(Field("name", ""), Field("team", nil))),
    (Operation(person, life, .increment("visits", by: .min)), Operation(person, life, .increment("visits", by: .min))),
    (Operation(person, life, .delete), Operation(person, life, .delete)),
    (
      Operation(person, life, .set([Field("name", "A")], base: life.tag)),
      Operation(person, life, .set([Field("name", "A")], base: life.tag))
    ),
    (
      Operation(RowKey("memberships", "north", "ana"), nil, .insert([Field("role", "x"), Field("team", "north")])),
      Operation(RowKey("memberships", "north", "ana"), nil, .insert([Field("role", "x")]))
    ),
  ]

  @Test(arguments: accepted)
  func `a fit operation gets its normal form, which is stable`(before: Operation, after: Operation) throws {
    #expect(try catalog.normalised(before) == after)
    #expect(try catalog.normalised(after) == after)
  }

  static let refused: [(operation: Operation, column: String?)] = [
    (Operation(RowKey("plants", 1), nil, .insert([])), nil),
    (Operation(RowKey("people\u{301}", "p1"), nil, .insert([Field("name", "A")])), nil), (insert(), "name"),
    (insert(Field("name", nil)), "name"), (insert(Field("name", 1)), "name"), (insert(Field("name", "a\u{0}")), "name"),
    (insert(Field("name", "A"), Field("x", 1)), "x"), (insert(Field("name", "A"), Field("Name", "B")), "Name"),
    (insert(Field("name", "A"), Field("name", "A")), "name"), (insert(Field("name", "A"), Field("id", "p2")), "id"),
    (insert(Field("name", "A"), Field("visits", nil)), "visits"),
    (insert(Field("name", "A"), Field("score", .real(.nan))), "score"),
    (insert(Field("name", "A"), Field("score", .real(.infinity))), "score"),
    (insert(Field("name", "A"), Field("score", 9_007_199_254_740_993)), "score"), (set(), nil),
    (set(Field("id", "p1")), "id"),
    (set(Field("visits", 1)), "visits"), (set(Field("x", 1)), "x"), (set(Field("name", nil)), "name"),
    (set(Field("name", .blob([]))), "name"), (Operation(person, life, .insert([Field("name", "A")])), nil),
    (Operation(person, nil, .set([Field("name", "A")], base: nil)), nil), (Operation(person, nil, .delete), nil),
    (Operation(person, nil, .increment("visits", by: 1)), nil),
    (Operation(person, life, .increment("name", by: 1)), "name"),
    (Operation(person, life, .increment("x", by: 1)), "x"), (Operation(RowKey("people"), life, .delete), nil),
    (Operation(RowKey("people", "a", "b"), life, .delete), nil),
    (Operation(RowKey("people", nil), life, .delete), "id"),
    (Operation(RowKey("people", 1), life, .delete), "id"), (Operation(RowKey("people", "a\u{0}"), life, .delete), "id"),
  ]

  @Test(arguments: refused)
  func `an unfit operation is refused with its place, and its values are not repeated`(
    operation: Operation, column: String?
  ) {
    let error = #expect(throws: OperationError.self) { try catalog.normalised(operation) }
    #expect(error?.table == operation.key.table)
    #expect(error?.column == column)
    #expect(error?.reason.isEmpty == false)
    #expect(error?.description.contains("p2") == false)
  }

  @Test func `a key and a row have a most of bytes, which is allowed itself`() throws {
    func delete(_ count: Int) -> Operation {
      Operation(RowKey("people", .text(String(repeating: "k", count: count))), OperationCheckTests.life, .delete)
    }
    _ = try catalog.normalised(delete(Limits.keyBytes - 4))  // the array's head and the text's take four
    #expect(throws: OperationError.self) { try catalog.normalised(delete(Limits.keyBytes - 3)) }
    func insert(_ count: Int) -> Operation {
      OperationCheckTests.insert(Field("name", .text(String(repeating: "n", count: count))))
    }
    _ = try catalog.normalised(insert(Limits.rowBytes - 5))
    #expect(throws: OperationError.self) { try catalog.normalised(insert(Limits.rowBytes - 4)) }
  }

  static let forms: [(type: ColumnType, good: [Value], bad: [Value])] = [
    (.text, ["", "é", "e\u{301}"], ["\u{0}", 1, 1.0, .blob([])]),
    (.integer, [0, .integer(.min)], ["1", 1.0, .blob([])]),
    (.real, [0.5, .real(.leastNonzeroMagnitude)], ["1", .real(.nan), .integer(.max)]),
    (.boolean, [0, 1], [2, -1, "true", 1.0]),
    (.blob, [.blob([]), .blob([0])], ["", 0]), (.json, ["{}", "[1]"], ["\u{0}", 1]),
    (.timestamp, [0, -1], ["now", 0.5]),
    (
      .decimal, ["0", "-1", "12.50", "0.00", "-0.01", "1.0", .text(String(repeating: "9", count: 64))],
      [
        "", "-", "+1", "01", "-0", "-0.0", "1.", ".5", "1e5", "1,5", " 1", "--1", "1.2.3", "٣", 1, "-00.1",
        .text(String(repeating: "9", count: 65)),
      ]
    ),
    (
      .date, ["2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31", "2026-04-30"],
      [
        "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-04-31", "2024-1-01", "24-01-01",
        "2024/01/01", "2024-01-01 ", "-024-01-01", "2024-01-0a", 20_240_101,
      ]
    ),
    (
      .uuid, ["0197a0de-0000-7000-8000-00000000000a"],
      [
        "", "0197A0DE-0000-7000-8000-00000000000A", "0197a0de00007000800000000000000a",
        .blob([UInt8](repeating: 0, count: 16)),
      ]
    ),
  ]

  @Test(arguments: forms)
  func `each type takes its forms and no others`(type: ColumnType, good: [Value], bad: [Value]) throws {
    let types = try #require(catalog.table("types"))
    let column = try #require(types.columns.first { $0.type == type && $0.isOptional })
    for value in good + [nil] { #expect(try column.normalised(value, in: types.name) == value) }
    for value in bad {
      #expect(throws: OperationError.self, "\(value)") { try column.normalised(value, in: types.name) }
    }
    var needed = column
    needed.isOptional = false
    #expect(throws: OperationError.self) { try needed.normalised(nil, in: types.name) }
  }
}
