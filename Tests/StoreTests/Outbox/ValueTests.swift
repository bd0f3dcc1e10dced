// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerryStore
import SkerryTesting
import Testing

@Suite struct ValueTests {
  static let values: [(String, String, Value)] = [
    ("title", "an empty text", ""), ("title", "the word null", "null"), ("title", "composed", "F\u{E4}lder"),
    ("title", "combining", "Fa\u{308}lder"), ("title", "KELVIN SIGN", "\u{212A}"), ("title", "a family", "👩‍👩‍👧‍👦"),
    ("title", "right to left", "\u{202E}abc"), ("title", "a quote", "O'Hara \"x\" \\ \u{7F}\u{1}"),
    ("title", "a leading zero", "0123"), ("title", "an exponent", "1e3"),
    ("pages", "2^53 + 1", 9_007_199_254_740_993), ("pages", "the least", .integer(.min)),
    ("pages", "the most", .integer(.max)),
    ("rating", "a subnormal", .real(.leastNonzeroMagnitude)),
    ("rating", "the greatest", .real(.greatestFiniteMagnitude)),
    ("rating", "a third", .real(1.0 / 3)), ("rating", "one", 1.0), ("isread", "yes", 1), ("isread", "no", 0),
    ("cover", "no bytes", .blob([])), ("cover", "all bytes", .blob(Array(0...255))),
    ("meta", "JSON", "{\"a\": [1, null]}"),
    ("added", "1969", -1), ("added", "the year 292,000,000", 9_200_000_000_000_000), ("price", "money", "0.30"),
    ("price", "a long decimal", "1234567890.123456789"), ("due", "a leap day", "2024-02-29"),
    ("due", "a birthday", "1990-03-15"),
    ("code", "a UUID", "0190a3f0-0000-7000-8000-0123456789ab"),
  ]

  @Test func `B109 values come back from the server as they were written, class and bytes`() throws {
    let desk = try Desk()
    let other = try desk.world.open("b", user: "ana")
    for (index, (column, _, value)) in ValueTests.values.enumerated() {
      try desk.insert("inserted\(index)", [column: value])
      try desk.insert("edited\(index)")
    }
    try desk.sync()
    for (index, (column, _, value)) in ValueTests.values.enumerated() {
      try desk.update(RowKey("book", .text("edited\(index)")), [column: value])
    }
    try desk.sync()
    try desk.world.sync("b")
    #expect(try desk.query("SELECT count(*) FROM skerry_base") == ["0"])
    for device in [desk.device, other] {
      _ = try device.store.write { write in
        for (index, (column, name, value)) in ValueTests.values.enumerated() {
          for how in ["inserted", "edited"] {
            let row = try write.row(RowKey("book", .text("\(how)\(index)")))
            #expect(row?[column] == value, "\(name) in \(column), \(how), on \(device.name)")
          }
        }
      }
      #expect(device.store.digestMismatches == 0)
    }
  }

  @Test func `F-V10 minus zero is zero from the write on`() throws {
    let desk = try Desk()
    let id = try desk.insert("dune", ["rating": .real(-0.0)])
    #expect(try desk.operations(id) == ["insert book/dune owner=ana rating=0.0r"])
    #expect(try desk.store.write { try $0.update(Desk.dune, ["rating": .real(-0.0)]) } == nil)
    try desk.sync()
    #expect(try desk.query("SELECT rating FROM book") == ["0.0r"])
    #expect(desk.store.digestMismatches == 0)
  }

  @Test func `an integer where a real is wanted is a real`() throws {
    let desk = try Desk()
    try desk.insert("dune", ["rating": 4])
    #expect(try desk.query("SELECT rating FROM book") == ["4.0r"])
    #expect(try desk.store.write { try $0.update(Desk.dune, ["rating": 4.0]) } == nil)
  }

  @Test func `F-V12 B110 null, an empty text and a field that is not named are three things`() throws {
    let desk = try Desk()
    try desk.insert("dune", ["title": "", "meta": "null"])
    let toNull = try desk.update(Desk.dune, ["title": nil])
    #expect(try desk.operations(toNull) == ["set book/dune title=-"])
    let back = try desk.update(Desk.dune, ["title": ""])
    #expect(try desk.operations(back) == ["set book/dune title="])
    try desk.update(Desk.dune, ["pages": 3])
    try desk.sync()
    #expect(try desk.query("SELECT title, pages, meta, cover FROM book") == [" 3 null -"])
  }

  @Test func `F-V04 F-V05 F-V06 keys that look alike are different rows`() throws {
    let keys = ["F\u{E4}lder", "Fa\u{308}lder", "k", "K", "\u{212A}", "\u{2126}", "\u{3A9}", "a", "a ", "A", "e", "é"]
    let desk = try Desk()
    for key in keys { try desk.insert(key) }
    #expect(try desk.store.outbox().count == keys.count)
    try desk.sync()
    #expect(try desk.query("SELECT count(*), count(DISTINCT hex(id)) FROM book") == ["\(keys.count) \(keys.count)"])
    #expect(try desk.store.rejections().isEmpty)
    try desk.update(RowKey("book", .text("\u{212A}")), ["title": "kelvin"])
    #expect(try desk.query("SELECT hex(id) FROM book WHERE title IS NOT NULL") == ["E284AA"])
  }
}
