// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerryStore
import SkerryTestSupport
import Testing

/// Which mutations must be settled before another may be judged: order is kept in a lane and along edges, and nowhere else.
@Suite struct PredecessorTests {
  private let shelf = RowKey("shelf", .text("s"))

  @Test func `edits of one row follow each other, each naming the one before`() throws {
    let desk = try Desk()
    let first = try desk.insert("dune")
    let second = try desk.update(Desk.dune, ["title": "two"])
    let third = try desk.update(Desk.dune, ["pages": 3])
    #expect(try after(desk) == [[], [first], [second]])
    _ = third
  }

  @Test func `edits of different rows go side by side`() throws {
    let desk = try Desk()
    try desk.insert("dune")
    try desk.insert("emma")
    #expect(try after(desk) == [[], []])
  }

  @Test func `a creation goes before what leans on it`() throws {
    let desk = try Desk()
    let book = try desk.insert("dune")
    let loan = try desk.write { try $0.insert("loan", ["id": "l", "book": "dune"]) }
    let other = try desk.write { try $0.insert("loan", ["id": "m", "book": "dune"]) }
    let edit = try desk.write { try $0.update(RowKey("loan", .text("l")), ["who": "Ben"]) }
    #expect(try after(desk) == [[], [book], [book], [book, loan]])
    _ = (other, edit)
  }

  @Test func `a child leans on its parent's creation, not on its edits`() throws {
    let desk = try Desk()
    let book = try desk.insert("dune")
    try desk.update(Desk.dune, ["title": "two"])
    try desk.write { try $0.insert("loan", ["id": "l", "book": "dune"]) }
    let last = try #require(try after(desk).last)
    #expect(last.count == 1)
    _ = book
  }

  @Test func `the end of a row goes after what leaned on it`() throws {
    let desk = try Desk()
    try desk.insert("dune")
    try desk.sync()
    let one = try desk.write { try $0.insert("loan", ["id": "l", "book": "dune"]) }
    let two = try desk.write { try $0.insert("loan", ["id": "m", "book": "dune"]) }
    try desk.write { try $0.delete(Desk.dune) }
    #expect(try after(desk) == [[], [], [one, two]])
  }

  @Test func `an insert after an end follows it`() throws {
    let desk = try Desk()
    try desk.insert("dune")
    try desk.sync()
    let end = try desk.write { try $0.delete(Desk.dune) }
    try desk.insert("dune")
    #expect(try after(desk) == [[], [end]])
  }

  @Test func `a shelf's root and a membership go before what is put on it`() throws {
    let desk = try Desk()
    let root = try desk.write { try $0.insert("shelf", ["id": "s"]) }
    let member = try desk.write { try $0.insert("reader", ["id": "r", "shelf": "s", "user": "ana"]) }
    try desk.write { try $0.insert("box", ["id": "b", "shelf": "s"]) }
    try desk.write { try $0.insert("box", ["id": "c", "shelf": "s"]) }
    let found = try after(desk)
    #expect(found[1] == [root])
    #expect(found[2] == [member])
    #expect(found[3] == [member])
  }

  @Test func `leaving a shelf goes after what was put on it before`() throws {
    let desk = try Desk()
    try desk.write { write in
      try write.insert("shelf", ["id": "s"])
      try write.insert("reader", ["id": "r", "shelf": "s", "user": "ana"])
    }
    try desk.sync()
    let one = try desk.write { try $0.insert("box", ["id": "b", "shelf": "s"]) }
    let two = try desk.write { try $0.insert("box", ["id": "c", "shelf": "s"]) }
    try desk.write { try $0.delete(RowKey("reader", .text("r"))) }
    #expect(try after(desk) == [[], [], [one, two]])
    try desk.sync()
    #expect(try desk.store.rejections().isEmpty)
  }

  @Test func `rows in a person's own space do not wait for each other`() throws {
    let desk = try Desk()
    for number in 0..<4 { try desk.write { try $0.insert("draft", ["id": .text("d\(number)"), "owner": "ana"]) } }
    #expect(try after(desk) == [[], [], [], []])
  }

  @Test func `what has its outcome is nobody's predecessor any more`() throws {
    let desk = try Desk()
    try desk.insert("dune")
    try desk.sync()
    try desk.update(Desk.dune, ["title": "two"])
    #expect(try after(desk) == [[]])
  }

  @Test func `a verdict alone does not end it: the page does`() throws {
    let desk = try Desk()
    let first = try desk.insert("dune")
    try desk.update(Desk.dune, ["title": "two"])
    try desk.store.take([.settled(first, .confirmed)])
    #expect(try after(desk) == [[], [first]])
  }

  @Test func `what is void or set aside still goes first`() throws {
    let desk = try Desk()
    let first = try desk.insert("dune")
    let second = try desk.update(Desk.dune, ["title": "two"])
    try desk.update(Desk.dune, ["title": "three"])
    try desk.store.setAside(first)
    try desk.store.discard(second)
    #expect(try after(desk) == [[], [first], [second]])
  }

  /// The predecessors of each entry, as they would travel.
  private func after(_ desk: Desk) throws -> [[MutationID]] {
    try desk.store.offer(desk.store.outbox().map(\.id)).map(\.after)
  }
}
