// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerryStore
import SkerryTesting
import Testing

@Suite struct WriteTests {
  @Test func `a write is on the screen and in the outbox when it returns`() throws {
    let desk = try Desk()
    let id = try desk.write("buy") { write in
      try write.insert("book", ["id": "dune", "owner": "ana", "title": "Dune"])
      try write.increment(Desk.dune, "copies", by: 2)
    }
    #expect(try desk.query("SELECT title, copies FROM book") == ["Dune 2"])
    #expect(try desk.operations(id) == ["insert book/dune owner=ana title=Dune", "add book/dune copies 2"])
    let entry = try #require(try desk.store.outbox().first)
    #expect(entry.label == "buy")
    #expect(entry.state == .waiting)
    #expect(entry.madeAt == desk.world.ambient.now())
    #expect(!entry.isVoid)
    #expect(entry.attempts == 0)
    #expect(entry.lastError == nil)
  }

  @Test func `F-P01 a closure that throws leaves nothing behind, and no number is skipped`() throws {
    struct Stop: Error {}
    let desk = try Desk()
    try desk.insert("dune")
    #expect(throws: Stop.self) {
      try desk.store.write { write in
        try write.insert("book", ["id": "emma", "owner": "ana"])
        try write.update(Desk.dune, ["title": "?"])
        throw Stop()
      }
    }
    #expect(try desk.query("SELECT id, title FROM book") == ["dune -"])
    try desk.insert("emma")
    #expect(try desk.store.outbox().map(\.number) == [1, 2])
    // The server has neither, so there is no base.
    #expect(try desk.query("SELECT count(*) FROM skerry_base") == ["0"])
    #expect(try desk.query("SELECT count(*) FROM skerry_subjects WHERE tbl = 'book'") == ["2"])
  }

  @Test func `B09 a write that changes nothing makes no mutation`() throws {
    let desk = try Desk()
    try desk.insert("dune", ["title": "Dune", "rating": 4.5])
    try desk.sync()
    let before = try desk.query("SELECT total_changes()")
    let nothing: [(String, (inout WriteTransaction) throws -> Void)] = [
      ("an empty closure", { _ in }),
      ("the same title", { try $0.update(Desk.dune, ["title": "Dune"]) }),
      ("all the same", { try $0.update(Desk.dune, ["title": "Dune", "rating": 4.5, "pages": nil, "owner": "ana"]) }),
      ("its own key", { try $0.update(RowKey("mark", .text("x"), .integer(1)), [:]) }),
      ("no fields", { try $0.update(Desk.dune, [:]) }),
      ("nothing added", { try $0.increment(Desk.dune, "copies", by: 0) }),
      ("a look", { _ = try $0.row(Desk.dune) }),
    ]
    for (what, body) in nothing where what != "its own key" {
      do { #expect(try desk.store.write(nil, body) == nil, "\(what)") } catch { Issue.record("\(what): \(error)") }
    }
    #expect(try desk.store.outbox().isEmpty)
    #expect(try desk.query("SELECT total_changes()") == before)
  }

  @Test func `B09 only the fields that change travel`() throws {
    let desk = try Desk()
    try desk.insert("dune", ["title": "Dune", "pages": 412, "rating": 4.5])
    let id = try desk.update(Desk.dune, ["title": "Dune", "pages": 413, "rating": 4.5, "meta": "{}"])
    #expect(try desk.operations(id) == ["set book/dune meta={} pages=413"])
  }

  @Test func `a write that sets back what another write set travels`() throws {
    let desk = try Desk()
    try desk.insert("dune", ["title": "one"])
    try desk.sync()
    try desk.update(Desk.dune, ["title": "two"])
    let back = try desk.update(Desk.dune, ["title": "one"])
    #expect(try desk.operations(back) == ["set book/dune title=one"])
  }

  @Test func `columns that are not given are null, and counters begin at 0`() throws {
    let desk = try Desk()
    try desk.insert("dune")
    #expect(
      try desk.query(
        "SELECT owner, title, pages, rating, isread, cover, meta, added, price, due, code, copies FROM book")
        == ["ana - - - - - - - - - - 0"])
  }

  @Test func `a counter may begin with a number`() throws {
    let desk = try Desk()
    let id = try desk.insert("dune", ["copies": 3])
    #expect(try desk.operations(id) == ["insert book/dune copies=3 owner=ana"])
    #expect(try desk.query("SELECT copies FROM book") == ["3"])
  }

  @Test func `a transaction sees its own changes`() throws {
    let desk = try Desk()
    try desk.write { write in
      try write.insert("book", ["id": "dune", "owner": "ana"])
      #expect(try write.row(Desk.dune)?["title"] == .null)
      try write.update(Desk.dune, ["title": "Dune"])
      #expect(try write.row(Desk.dune)?["title"] == "Dune")
      try write.delete(Desk.dune)
      #expect(try write.row(Desk.dune) == nil)
      try write.insert("book", ["id": "dune", "owner": "ana", "title": "again"])
    }
    #expect(try desk.query("SELECT title FROM book") == ["again"])
  }

  @Test func `a key of two columns names one row`() throws {
    let desk = try Desk()
    try desk.write { write in
      for page: Int64 in 1...3 {
        try write.insert("mark", ["book": "dune", "page": .integer(page), "owner": "ana"])
      }
      try write.update(RowKey("mark", .text("dune"), .integer(2)), ["text": "here"])
    }
    try desk.sync()
    #expect(try desk.query("SELECT page, text FROM mark ORDER BY page") == ["1 -", "2 here", "3 -"])
  }

  @Test func `an edit of a table that checks versions names the version that was seen`() throws {
    let desk = try Desk()
    let key = RowKey("draft", .text("d"))
    let first = try desk.write { try $0.insert("draft", ["id": "d", "owner": "ana"]) }
    let second = try desk.update(key, ["body": "one"])
    let third = try desk.update(key, ["body": "two"])
    let bases = try desk.store.outbox().map { entry in
      entry.operations.map { operation -> VersionTag? in
        if case .set(_, let base) = operation.action { base } else { nil }
      }
    }
    #expect(bases == [[nil], [first.tag], [second.tag]])
    try desk.sync()
    #expect(try desk.store.rejections().isEmpty)
    let fourth = try desk.update(key, ["body": "three"])
    #expect(try desk.store.outbox().map(\.id) == [fourth])
    try desk.sync()
    #expect(try desk.query("SELECT body FROM draft") == ["three"])
    _ = third
  }

  @Test func `an id that is made here is a UUID of version 7 in lower case`() throws {
    let desk = try Desk()
    var ids: [String] = []
    try desk.write { write in
      for _ in 0..<50 {
        let id = write.makeID()
        try write.insert("book", ["id": .text(id), "owner": "ana", "code": .text(id)])
        ids.append(id)
      }
    }
    #expect(Set(ids).count == 50)
    #expect(ids.allSatisfy { Array($0)[14] == "7" && "89ab".contains(Array($0)[19]) })
  }

  @Test func `what takes more than a message may hold once it is escaped is refused at the write`() throws {
    let desk = try Desk()
    let text = String(repeating: "\u{1}", count: 1_000_000)
    expect(.invalid) {
      try desk.write("long") { tx in
        for number in 0..<3 {
          try tx.insert("book", ["id": .text("b\(number)"), "owner": "ana", "title": .text(text)])
        }
      }
    }
    #expect(try desk.store.outboxCount() == 0)
  }
}
