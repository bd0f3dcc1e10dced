// SPDX-License-Identifier: Apache-2.0
import SkerryAmbientKit
import SkerryModel
import SkerryStore
import SkerryTestSupport
import SkerryTesting
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

  @Test(arguments: 0..<20) func `what is set aside takes just those along that come after it`(_ seed: UInt64) throws {
    let desk = try Desk()
    var generator = SeededGenerator(seed: seed)
    for number in 0..<40 { try? change(desk, number, &generator) }
    let ids = try desk.store.outbox().map(\.id)
    let aside = Set(ids.filter { _ in generator.chance(0.08) })
    for id in aside { try desk.store.setAside(id) }
    let ready = try desk.store.ready(limit: 100)
    var blocked = aside
    for mutation in try desk.store.offer(ids) where mutation.after.contains(where: blocked.contains) {
      blocked.insert(mutation.id)
    }
    #expect(ready == ids.filter { !blocked.contains($0) })
  }

  /// Something about one of three shelves, books or loans; what does not fit fails and leaves nothing.
  private func change(_ desk: Desk, _ number: Int, _ generator: inout SeededGenerator) throws {
    let name = generator.pick(["x", "y", "z"]) ?? "x"
    let (shelf, loan) = (RowKey("shelf", .text(name)), RowKey("loan", .text(name)))
    let book = RowKey("book", .text(generator.pick(["x", "y", "z"]) ?? "x"))
    let kind = Int.random(in: 0..<9, using: &generator)
    try desk.write { tx in
      switch kind {
      case 0: try tx.insert("shelf", ["id": .text(name)])
      case 1: try tx.update(shelf, ["name": .text("\(number)")])
      case 2: try tx.delete(shelf)
      case 3: try tx.insert("reader", ["id": .text("r\(number)"), "shelf": .text(name), "user": "ana"])
      case 4: try tx.insert("box", ["id": .text("b\(number)"), "shelf": .text(name)])
      case 5: try tx.insert("book", ["id": book.values[0], "owner": "ana"])
      case 6: try tx.delete(book)
      case 7: try tx.insert("loan", ["id": .text(name), "book": book.values[0]])
      default: try tx.update(loan, ["book": book.values[0], "who": .text("\(number)")])
      }
    }
  }
}
