// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerryStore
import SkerryTesting
import Testing

/// The life of an entry of the outbox: waiting, sent, set aside, taken up again, withdrawn, replaced.
@Suite struct EntryTests {
  @Test func `an entry that was handed to the transport is frozen, also after the process died`() throws {
    let desk = try Desk()
    let id = try desk.insert("dune")
    #expect(try desk.store.offer([id]).map(\.id) == [id])
    #expect(try desk.store.outbox().map(\.state) == [.sent])
    let again = try #require(try desk.world.kill("a")).store
    #expect(try again.outbox().map(\.state) == [.sent])
    expect(.frozen) {
      try again.replace(id, with: [], newID: desk.world.ambient.makeMutationID())
    }
  }

  @Test func `what is offered twice has the same bytes`() throws {
    let desk = try Desk()
    let id = try desk.insert("dune", ["title": "Dune"])
    let first = try desk.store.offer([id])
    try desk.update(Desk.dune, ["title": "two"])
    #expect(try desk.store.offer([id]) == first)
    #expect(try desk.store.offer([id, id]).count == 2)
  }

  @Test func `an id that is not in the outbox is passed over`() throws {
    let desk = try Desk()
    #expect(try desk.store.offer([desk.world.ambient.makeMutationID()]).isEmpty)
  }

  @Test func `an entry that is set aside is not offered, and keeps the reason until it is taken up again`() throws {
    let desk = try Desk()
    let first = try desk.insert("dune")
    let second = try desk.insert("emma")
    try desk.store.noteFailure(first, "the server answered 500")
    try desk.store.noteFailure(first, "the server answered 502")
    try desk.store.setAside(first)
    #expect(try desk.store.ready(limit: 10) == [second])
    let entry = try #require(try desk.store.outbox().first)
    #expect(entry.state == .failed)
    #expect(entry.attempts == 2)
    #expect(entry.lastError == "the server answered 502")
    #expect(try desk.store.outboxCount() == 2)
    #expect(try desk.query("SELECT id FROM book ORDER BY id") == ["dune", "emma"], "it stays on the screen")
    try desk.store.retry(first)
    #expect(try desk.store.ready(limit: 10) == [first, second])
    #expect(try desk.store.outbox().first?.attempts == 0)
    try desk.sync()
    #expect(try desk.store.outboxCount() == 0)
  }

  @Test func `entries are ready in the order in which they were made, as many as are asked for`() throws {
    let desk = try Desk()
    let ids = try (0..<5).map { try desk.insert("b\($0)") }
    #expect(try desk.store.ready(limit: 3) == Array(ids[..<3]))
    try desk.store.take([.settled(ids[0], .confirmed), .settled(ids[2], .rejected)])
    #expect(try desk.store.ready(limit: 3) == [ids[1], ids[3], ids[4]])
    #expect(try desk.store.outboxCount() == 5, "a verdict removes nothing")
    desk.store.forgetAnswers()
    #expect(try desk.store.ready(limit: 9) == ids)
  }

  @Test func `the settled mark ends before the first number that waits`() throws {
    let desk = try Desk()
    #expect(try desk.store.settledMark() == 0)
    for number in 0..<3 { try desk.insert("b\(number)") }
    #expect(try desk.store.settledMark() == 0)
    try desk.sync()
    #expect(try desk.store.settledMark() == 3)
    try desk.insert("c")
    #expect(try desk.store.settledMark() == 3)
  }

  // MARK: withdrawing

  @Test func `an entry that is withdrawn leaves the screen, keeps its number, and settles without effect`() throws {
    let desk = try Desk()
    try desk.insert("dune", ["title": "one"])
    try desk.sync()
    let id = try desk.update(Desk.dune, ["title": "two"])
    try desk.update(Desk.dune, ["pages": 5])
    try desk.store.discard(id)
    #expect(try desk.query("SELECT title, pages FROM book") == ["one 5"])
    #expect(try desk.store.outbox().map(\.isVoid) == [true, false])
    try desk.sync()
    #expect(try desk.query("SELECT title, pages FROM book") == ["one 5"])
    #expect(try desk.store.outboxCount() == 0)
    #expect(try desk.store.rejections().isEmpty)
    #expect(try desk.query("SELECT count(*) FROM skerry_base") == ["0"])
  }

  @Test func `withdrawn after the server judged it, it stands`() throws {
    let desk = try Desk()
    let id = try desk.insert("dune")
    guard case .exchange(let push) = try desk.device.session.next() else { return #expect(Bool(false)) }
    _ = desk.world.serve(push.request, as: "ana")
    try desk.store.discard(id)
    #expect(try desk.query("SELECT id FROM book").isEmpty)
    try desk.world.kill("a")
    try desk.sync()
    #expect(try desk.world.devices["a"]?.screen().contains("dune") == true)
  }

  @Test func `withdrawing an entry that has its outcome, or that never was, is refused`() throws {
    let desk = try Desk()
    let id = try desk.insert("dune")
    try desk.sync()
    expect(.notFound) { try desk.store.discard(id) }
    expect(.notFound) { try desk.store.retry(id) }
    expect(.notFound) { try desk.store.replace(id, with: [], newID: id) }
  }

  // MARK: replacing

  @Test func `the newest unsent entry can be replaced, in its place and under a new id`() throws {
    let desk = try Desk()
    try desk.insert("dune", ["title": "one"])
    try desk.sync()
    let old = try desk.update(Desk.dune, ["title": "two"])
    let new = desk.world.ambient.makeMutationID()
    let inc = try #require(try desk.store.outbox().last?.operations.first?.incarnation)
    try desk.store.replace(
      old, with: [Operation(Desk.dune, inc, .set([Field("title", "three")], base: nil))], newID: new)
    let entries = try desk.store.outbox()
    #expect(entries.map(\.id) == [new])
    #expect(entries.map(\.number) == [2])
    #expect(try desk.query("SELECT title FROM book") == ["three"])
    try desk.sync()
    #expect(try desk.query("SELECT title FROM book") == ["three"])
    #expect(try desk.store.archived().contains(new))
  }

  @Test func `an entry cannot be replaced once a later one leans on it, it is void, or it was sent`() throws {
    let desk = try Desk()
    let first = try desk.insert("dune")
    let second = try desk.insert("emma")
    let new = desk.world.ambient.makeMutationID()
    expect(.frozen) { try desk.store.replace(first, with: [], newID: new) }
    try desk.store.discard(second)
    expect(.frozen) { try desk.store.replace(second, with: [], newID: new) }
    #expect(try desk.store.outbox().map(\.id) == [first, second])
  }
}
