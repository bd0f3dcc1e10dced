// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// Values that no device would write.
@Suite struct OddValueCases {
  /// A table of the app's own, without a check of anything.
  private static let loose = """
    CREATE TABLE book(id TEXT PRIMARY KEY NOT NULL, owner TEXT, title TEXT, pages INTEGER, rating REAL, isread INTEGER,
      cover BLOB, meta TEXT, added INTEGER, price TEXT, due TEXT, code TEXT, copies INTEGER NOT NULL DEFAULT 0)
    """

  private static let odd = [
    "pages = 18446744073709551615", "rating = 1e400", "rating = -1e400", "isread = -1", "pages = 'twelve'",
    "pages = '12'", "copies = 'many'", "title = x'FF'", "title = 12", "cover = 'text'", "added = 'noon'",
    "due = 'tomorrow'", "price = 1.5", "meta = '{'", "code = 'none'", "isread = 'yes'",
  ]

  @Test func `B108 a row that does not fit its columns stops no other, and not the next round`() throws {
    let desk = try Desk(before: OddValueCases.loose)
    let other = try desk.world.open("b", user: "ana")
    let count = OddValueCases.odd.count
    for number in 0..<20 + count {
      try desk.world.foreign.run("INSERT INTO book(id, owner) VALUES (?, 'ana')", .text("b\(10 + number)"))
    }
    for (number, change) in OddValueCases.odd.enumerated() {
      try desk.world.foreign.execute("UPDATE book SET \(change) WHERE id = 'b\(20 + number)'")
    }
    try desk.world.settle()
    for device in [desk.device, other] {
      let rows = try device.store.withConnection { try $0.query("SELECT id FROM book") { $0.text(0) } }
      #expect(rows.count == 20 + count)
      #expect(device.store.digestMismatches == 0)
      #expect(device.session.totals.undecodable == 0)
    }
    #expect(try desk.device.screen() == other.screen())
    try desk.update(RowKey("book", .text("b20")), ["title": "mine"])
    try desk.world.settle()
    #expect(try desk.store.rejections().isEmpty)
    #expect(try desk.device.screen() == other.screen())
  }

  @Test func `B112 what is no number is refused at the write, and another program's is no reason to stand still`()
    throws
  {
    let desk = try Desk(before: OddValueCases.loose)
    try desk.insert("dune", ["rating": 1])
    for number in [Double.nan, .infinity, -.infinity] {
      let error = #expect(throws: StoreError.self) { try desk.update(Desk.dune, ["rating": .real(number)]) }
      #expect(error?.code == .invalid)
      #expect(error?.message.contains("rating") == true)
    }
    try desk.sync()
    try desk.world.foreign.execute("UPDATE book SET rating = 9e999")
    for _ in 0..<3 { try desk.sync() }
    #expect(try desk.query("SELECT rating FROM book") == ["\(Double.greatestFiniteMagnitude)r"])
    #expect(try desk.store.write { try $0.update(Desk.dune, ["rating": .real(.greatestFiniteMagnitude)]) } == nil)
    #expect(desk.store.digestMismatches == 0)
    #expect(try desk.store.outboxCount() == 0)
  }
}
