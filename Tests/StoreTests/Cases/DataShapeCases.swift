// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// CASES.md, texts and numbers that must arrive as they were written.
@Suite struct DataShapeCases {
  /// A desk with a second device of the same account, with pages of one row.
  private func desk(before: String? = nil) throws -> Desk {
    let desk = try Desk(before: before)
    try desk.world.open("b", user: "ana", policy: TimingPolicy(batch: 3, page: 1))
    return desk
  }

  private func device(_ desk: Desk, _ name: String) throws -> WorldDevice {
    guard let device = desk.world.devices[name] else { throw WorldError("no device \(name)") }
    return device
  }

  /// The end: devices and server hold the same, and five more rounds write nothing on the server.
  private func end(_ desk: Desk, at location: SourceLocation = #_sourceLocation) throws {
    let world = desk.world
    try world.settle()
    for name in ["a", "b"] { try world.sync(name) }
    let before = try world.foreign.dataVersion()
    for _ in 0..<5 { for name in ["a", "b"] { try world.sync(name) } }
    #expect(try world.foreign.dataVersion() == before, "it goes to and fro", sourceLocation: location)
    let digest = try world.server.digest(of: "user:ana")
    for name in ["a", "b"] {
      let store = try device(desk, name).store
      #expect(try store.digests()["user:ana"] == digest, sourceLocation: location)
      #expect(store.digestMismatches == 0, sourceLocation: location)
      #expect(try store.outboxCount() == 0, sourceLocation: location)
    }
    #expect(try device(desk, "a").screen() == device(desk, "b").screen(), sourceLocation: location)
  }

  private func write(_ desk: Desk, _ name: String, _ body: (inout WriteTransaction) throws -> Void) throws {
    _ = try device(desk, name).store.write(nil, body)
  }

  /// The bytes of texts of a device, in order.
  private func texts(_ desk: Desk, _ name: String, _ sql: String) throws -> [[UInt8]] {
    try device(desk, name).store.withConnection { connection in try connection.query(sql) { Array($0.text(0).utf8) } }
  }

  @Test func `B104 a text at a limit of the server is kept whole or refused with a reason, and never cut`() throws {
    let desk = try desk()
    try desk.world.foreign.execute(
      """
      CREATE TRIGGER app_limit BEFORE INSERT ON book WHEN length(NEW.title) > 200
      BEGIN SELECT RAISE(ABORT, 'the title is too long'); END
      """)
    let letters = String(repeating: "x", count: 199)
    let kept = ["\u{1F600}", "é", "", "\u{1F408}"].map { letters + $0 }
    let refused = ["e\u{301}", "\u{1F468}\u{200D}\u{1F469}", "\u{1F1EC}\u{1F1E7}"].map { letters + $0 }
    for (number, title) in (kept + refused).enumerated() { try desk.insert("b\(number)", ["title": .text(title)]) }
    try end(desk)
    for name in ["a", "b"] {
      let found = try texts(desk, name, "SELECT title FROM book ORDER BY id")
      #expect(found == kept.map { Array($0.utf8) })
    }
    let refusals = try desk.store.rejections()
    #expect(refusals.map(\.reason).allSatisfy { $0?.contains("the title is too long") == true })
    let words = refusals.flatMap(\.operations).flatMap(\.fields).filter { $0.column == "title" }.map(\.value)
    #expect(words == refused.map { .text($0) })
  }

  @Test func `B105 names that look the same are two, on every side, and nobody renames them`() throws {
    let desk = try desk()
    try desk.world.foreign.execute("CREATE UNIQUE INDEX app_names ON book(owner, title)")
    let forms = ["F\u{E4}lder", "Fa\u{308}lder"]
    for (name, form) in zip(["a", "b"], forms) {
      try write(desk, name) { try $0.insert("book", ["id": .text(form), "owner": "ana", "title": .text(form)]) }
    }
    try end(desk)
    for name in ["a", "b"] {
      let found = try texts(desk, name, "SELECT title FROM book ORDER BY id")
      #expect(found == forms.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    }
    try write(desk, "b") { try $0.update(RowKey("book", .text(forms[0])), ["pages": 1]) }
    try end(desk)
    #expect(try desk.query("SELECT hex(id) FROM book WHERE pages = 1") == ["46C3A46C646572"])
  }

  private static let alike = [
    "aB3dE6gH9jK2mN5p", "Ab3dE6gH9jK2mN5p", "é1", "e1", "ß", "ss", "a", "a ", " a", "A", "\u{FF21}", "1", "01", "1.0",
  ]

  @Test func `B106 ids that differ only in case, accents or blanks are different rows, and no replays of each other`()
    throws
  {
    let desk = try desk()
    for (number, id) in DataShapeCases.alike.enumerated() {
      try write(desk, number % 2 == 0 ? "a" : "b") { try $0.insert("book", ["id": .text(id), "owner": "ana"]) }
    }
    try end(desk)
    let fresh = try desk.world.open("c", user: "ana", policy: TimingPolicy(batch: 3, page: 1))
    try desk.world.sync("c")
    #expect(try fresh.screen() == desk.device.screen())
    let binary = DataShapeCases.alike.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    for name in ["a", "b", "c"] { #expect(try texts(desk, name, "SELECT id FROM book ORDER BY id") == binary) }
    for name in ["a", "b"] { #expect(try device(desk, name).store.rejections().isEmpty) }
  }

  @Test func `B110 null, no text, no bytes and the word null arrive as what they are, and change into each other`()
    throws
  {
    let desk = try desk()
    let titles: [Value] = ["", "null", "NULL", nil]
    for (number, title) in titles.enumerated() {
      let cover: Value = number % 2 == 0 ? .blob([]) : nil
      try desk.insert("b\(number)", ["title": title, "pages": nil, "cover": cover, "meta": "null"])
    }
    try end(desk)
    let kinds = """
      SELECT typeof(title) || ' ' || quote(title) || ' ' || typeof(pages) || ' ' || typeof(cover) || ' ' || typeof(meta)
      FROM book ORDER BY id
      """
    let expected = [
      "text '' null blob text", "text 'null' null null text", "text 'NULL' null blob text", "null NULL null null text",
    ].map { Array($0.utf8) }
    for name in ["a", "b"] { #expect(try texts(desk, name, kinds) == expected) }
    #expect(try desk.world.foreign.query(kinds) { Array($0.text(0).utf8) } == expected)
    let key = RowKey("book", .text("b0"))
    for (title, kind) in [(Value.null, "null"), ("", "text")] {
      try desk.update(key, ["title": title])
      try end(desk)
      #expect(try texts(desk, "b", "SELECT typeof(title) FROM book WHERE id = 'b0'") == [Array(kind.utf8)])
    }
  }

  @Test func `B111 a date is its text, and the edit of another field neither sends nor moves it`() throws {
    let desk = try desk()
    let days = ["1990-03-15", "2024-02-29", "2026-03-29", "0001-01-01", "9999-12-31"]
    for (number, day) in days.enumerated() {
      try desk.insert("b\(number)", ["due": .text(day), "title": .text("--\(day.dropFirst(5))")])
    }
    try end(desk)
    // The device moves through half a day, and past midnight.
    desk.world.ambient.advance(by: 13 * 3_600_000)
    for number in days.indices {
      let id = try desk.update(RowKey("book", .text("b\(number)")), ["pages": 1, "due": .text(days[number])])
      #expect(try desk.operations(id) == ["set book/b\(number) pages=1"])
    }
    try end(desk)
    for name in ["a", "b"] {
      #expect(try texts(desk, name, "SELECT due FROM book ORDER BY id") == days.map { Array($0.utf8) })
      #expect(
        try texts(desk, name, "SELECT title FROM book ORDER BY id") == days.map { Array("--\($0.dropFirst(5))".utf8) })
    }
  }
}
