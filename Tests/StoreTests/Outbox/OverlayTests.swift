// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTesting
import Testing

/// What is visible is the confirmed row with the pending operations folded over it.
@Suite struct OverlayTests {
  /// A desk with a confirmed book, and what another program does to it.
  private func desk() throws -> Desk {
    let desk = try Desk()
    try desk.insert("dune", ["title": "one", "pages": 1, "copies": 10])
    try desk.sync()
    return desk
  }

  @Test func `another's change of another field shows at once beneath a pending edit`() throws {
    let desk = try desk()
    try desk.update(Desk.dune, ["title": "mine"])
    try desk.write { try $0.increment(Desk.dune, "copies", by: 5) }
    try desk.world.foreign.execute("UPDATE book SET title = 'theirs', pages = 2, copies = copies + 100")
    try pullOnly(desk)
    #expect(try desk.query("SELECT title, pages, copies FROM book") == ["mine 2 115"])
    #expect(try desk.store.outboxCount() == 2)
    try desk.sync()
    #expect(try desk.query("SELECT title, pages, copies FROM book") == ["mine 2 115"])
    #expect(try desk.query("SELECT count(*) FROM skerry_base") == ["0"])
  }

  @Test func `a base is kept only for rows of the server with pending operations`() throws {
    let desk = try desk()
    try desk.insert("emma")
    #expect(try desk.query("SELECT count(*) FROM skerry_base") == ["0"])
    try desk.update(Desk.dune, ["title": "mine"])
    #expect(try desk.query("SELECT count(*) FROM skerry_base") == ["1"])
    try desk.sync()
    #expect(try desk.query("SELECT count(*) FROM skerry_base") == ["0"])
    #expect(try desk.query("SELECT count(*) FROM skerry_subjects") == ["0"])
  }

  @Test
  func `F-L22 a row that others ended is gone from the screen, and the pending edit is refused with its values kept`()
    throws
  {
    let desk = try desk()
    let edit = try desk.update(Desk.dune, ["title": "mine"])
    try desk.world.foreign.execute("DELETE FROM book")
    try pullOnly(desk)
    #expect(try desk.query("SELECT * FROM book").isEmpty)
    #expect(try desk.store.outbox().map(\.id) == [edit])
    try desk.sync()
    let refusal = try #require(try desk.store.rejections().first)
    #expect(refusal.id == edit)
    #expect(refusal.code == .gone)
    #expect(refusal.operations.map(Desk.text) == ["set book/dune title=mine"])
    #expect(try desk.query("SELECT * FROM book").isEmpty)
  }

  @Test func `a pending end hides the row, whatever others do to it`() throws {
    let desk = try desk()
    try desk.write { try $0.delete(Desk.dune) }
    try desk.world.foreign.execute("UPDATE book SET title = 'theirs'")
    try pullOnly(desk)
    #expect(try desk.query("SELECT * FROM book").isEmpty)
    try desk.sync()
    #expect(try desk.query("SELECT * FROM book").isEmpty)
    #expect(try desk.world.describe().contains("dune") == false)
  }

  @Test func `an own insert meets a row of the same key: theirs is shown, and the refusal holds the own values`() throws
  {
    let desk = try Desk()
    try desk.sync()
    try desk.world.foreign.execute("INSERT INTO book(id, owner, title) VALUES ('dune', 'ana', 'theirs')")
    let own = try desk.insert("dune", ["title": "mine"])
    #expect(try desk.query("SELECT title FROM book") == ["mine"])
    try pullOnly(desk)
    #expect(try desk.query("SELECT title FROM book") == ["theirs"])
    try desk.sync()
    #expect(try desk.query("SELECT title FROM book") == ["theirs"])
    let refusal = try #require(try desk.store.rejections().first)
    #expect(refusal.id == own)
    #expect(refusal.code == .exists)
    #expect(refusal.operations.map(Desk.text) == ["insert book/dune owner=ana title=mine"])
  }

  @Test func `a refusal is kept until it is acknowledged, also over a restart`() throws {
    let desk = try Desk()
    try desk.sync()
    try desk.world.foreign.execute("INSERT INTO book(id, owner) VALUES ('dune', 'ana')")
    try desk.insert("dune")
    try desk.sync()
    let store = try #require(try desk.world.kill("a")).store
    let refusal = try #require(try store.rejections().first)
    #expect(refusal.reason?.isEmpty == false)
    try store.acknowledge(refusal.id)
    #expect(try store.rejections().isEmpty)
  }

  @Test func `what the rule refuses has no visible effect, and the server says so`() throws {
    let desk = try desk()
    let other = Incarnation(tag: desk.world.ambient.makeMutationID().tag, index: 0)
    try desk.store.append(
      [Operation(Desk.dune, other, .set([Field("title", "for another life")], base: nil))],
      id: desk.world.ambient.makeMutationID())
    #expect(try desk.query("SELECT title FROM book") == ["one"])
    try desk.sync()
    #expect(try desk.store.rejections().map(\.code) == [.gone])
  }

  @Test func `the fold is the same after a restart`() throws {
    let desk = try desk()
    try desk.update(Desk.dune, ["title": "mine"])
    try desk.write { try $0.increment(Desk.dune, "copies") }
    let before = try desk.device.screen()
    try desk.world.kill("a")
    #expect(try desk.world.devices["a"]?.screen() == before)
  }

  /// Takes in what others did, without offering anything.
  private func pullOnly(_ desk: Desk) throws {
    let ids = try desk.store.outbox().map(\.id)
    for id in ids { try desk.store.setAside(id) }
    try desk.sync()
    for id in ids { try desk.store.retry(id) }
  }
}
