// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerryStore
import SkerryTesting
import Testing

/// What the server would refuse is refused at the local write already, and nothing of that write is left.
@Suite struct RefusalTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: StoreError.Code
    let body: @Sendable (inout WriteTransaction) throws -> Void

    init(
      _ name: String, _ code: StoreError.Code, _ body: @escaping @Sendable (inout WriteTransaction) throws -> Void
    ) {
      testDescription = name
      self.code = code
      self.body = body
    }

    /// An edit of a column.
    static func set(_ name: String, _ column: String, _ value: Value) -> Case {
      Case(name, .invalid) { try $0.update(Desk.dune, [column: value]) }
    }
  }

  static let cases = [
    Case("a row that is here already", .exists) { try $0.insert("book", ["id": "dune", "owner": "ana"]) },
    Case("a row that is not here", .notFound) { try $0.update(Desk.emma, ["title": "x"]) },
    Case("a number added to a row that is not here", .notFound) { try $0.increment(Desk.emma, "copies") },
    Case("the end of a row that is not here", .notFound) { try $0.delete(Desk.emma) },
    Case("an unknown table", .invalid) { try $0.insert("film", ["id": "x"]) },
    Case("a table of the engine's own", .invalid) { try $0.insert("skerry_outbox", ["made": 1]) },
    Case("a row of an unknown table", .invalid) { try $0.delete(RowKey("film", .text("x"))) },
    Case("an insert without its key", .invalid) { try $0.insert("book", ["owner": "ana"]) },
    Case("an insert without a column that is needed", .invalid) { try $0.insert("book", ["id": "x"]) },
    Case("half a key", .invalid) { try $0.insert("mark", ["book": "dune", "owner": "ana"]) },
    Case("another key", .notFound) { try $0.update(RowKey("book", .integer(1)), ["title": "x"]) },
    Case("a counter that would leave its range", .overflow) { write in
      try write.increment(Desk.dune, "copies", by: .max)
      try write.increment(Desk.dune, "copies", by: 1)
    },
    Case("a number added to no counter", .invalid) { try $0.increment(Desk.dune, "pages") },
    .set("an unknown column", "colour", "red"),
    .set("a hidden column", "skerry_tag", .blob([1])),
    .set("the key", "id", "zebra"),
    .set("a counter", "copies", 5),
    .set("null where a value is needed", "owner", nil),
    .set("NUL in a text", "title", "a\u{0}b"),
    .set("NUL in JSON", "meta", "{\"a\":\"\u{0}\"}"),
    .set("a text in a number", "pages", "12"),
    .set("a number in a text", "title", 12),
    .set("a real in an integer", "pages", 1.5),
    .set("F-V11 B112 NaN", "rating", .real(.nan)),
    .set("F-V11 B112 infinity", "rating", .real(.infinity)),
    .set("F-V11 B112 minus infinity", "rating", .real(-.infinity)),
    .set("an integer that no double equals", "rating", 9_007_199_254_740_993),
    .set("a boolean of 2", "isread", 2),
    .set("a text in a blob", "cover", "x"),
    .set("a decimal with a zero in front", "price", "01.5"),
    .set("a decimal with an exponent", "price", "1e3"),
    .set("a decimal of minus zero", "price", "-0.00"),
    .set("a decimal without digits", "price", "."),
    .set("a date that there is not", "due", "2026-02-30"),
    .set("a date with a time", "due", "2026-02-03T00:00"),
    .set("a UUID in upper case", "code", "0190A3F0-0000-7000-8000-000000000000"),
    .set("a row of more than a mebibyte", "title", .text(String(repeating: "x", count: 1 << 20))),
    Case("F-L14 a blob of ten mebibytes", .invalid) { write in
      try write.update(Desk.dune, ["cover": .blob([UInt8](repeating: 7, count: 10 << 20))])
    },
    Case("a key that is too long", .invalid) { write in
      try write.insert("book", ["id": .text(String(repeating: "k", count: 600)), "owner": "ana"])
    },
    Case("a row that grows past its limit", .invalid) { write in
      try write.update(Desk.dune, ["title": .text(String(repeating: "x", count: 600_000))])
      try write.update(Desk.dune, ["meta": .text(String(repeating: "x", count: 600_000))])
    },
    Case("a write that is too long", .invalid) { write in
      for number in 0..<5 {
        try write.insert(
          "book",
          ["id": .text("b\(number)"), "owner": "ana", "title": .text(String(repeating: "x", count: 1_000_000))])
      }
    },
  ]

  @Test(arguments: cases)
  func `what the server would refuse is refused at the local write`(_ row: Case) throws {
    let pad = try Pad()
    _ = try pad.store.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    let error = try pad.refusal(row.body)
    #expect(error.code == row.code, "\(error)")
    #expect(!error.message.contains("zebra"), "a message names tables and columns, never values")
  }

  @Test func `what fits is taken, so that the table above can fail`() throws {
    let pad = try Pad()
    _ = try pad.store.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    #expect(throws: WorldError.self) { try pad.refusal { try $0.update(Desk.dune, ["title": "zebra"]) } }
  }

  @Test func `F-L14 a row may grow to its limit, and a row at its limit may still change`() throws {
    let pad = try Pad()
    let text = String(repeating: "x", count: (1 << 20) - 40)
    _ = try pad.store.write { write in
      try write.insert("book", ["id": "dune", "owner": "ana"])
      try write.update(Desk.dune, ["title": .text(text)])
      try write.update(Desk.dune, ["pages": 4])
      try write.update(Desk.dune, ["title": .text(String(text.dropLast()))])
      try write.increment(Desk.dune, "copies", by: 2)
    }
    let error = try pad.refusal { try $0.update(Desk.dune, ["meta": .text(String(repeating: " ", count: 40))]) }
    #expect(error.code == .invalid)
  }
}
