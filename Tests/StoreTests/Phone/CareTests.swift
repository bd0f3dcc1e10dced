// SPDX-License-Identifier: Apache-2.0
import Foundation
import Skerry
import SkerryFileKit
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// The room that a store takes, and whether it is what it should be.
@Suite("Care of a store") struct CareTests: EngineBench {
  let folder: TemporaryFolder
  let ambient = VirtualAmbient(seed: 51)
  let clock = ManualClock()

  init() throws { folder = try TemporaryFolder() }

  @Test func `size tells the file, what is free, what waits, and each table`() async throws {
    let replica = try await replica()
    let empty = try await replica.size()
    #expect(empty.outbox == 0)
    #expect(empty.tables.map(\.name) == ["book", "box", "draft", "loan", "mark", "reader", "shelf"])
    #expect(empty.tables.allSatisfy { $0.rows == 0 })
    let cover = Value.blob(Array(repeating: 7, count: 20_000))
    for id in ["a", "b", "c"] {
      try await replica.write { try $0.insert("book", ["id": .text(id), "owner": "ana", "cover": cover]) }
    }
    let full = try await replica.size()
    #expect(full.outbox > 60_000)
    #expect(full.wal > 60_000)
    #expect(full.file > empty.file + 60_000)
    let book = try #require(full.tables.first)
    #expect(book.rows == 3)
    #expect(book.bytes.map { $0 > 60_000 } != false)
    #expect(full.tables.dropFirst().allSatisfy { $0.rows == 0 })
  }

  @Test func `vacuum gives back what is free, and loses nothing`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let cover = Value.blob(Array(repeating: 7, count: 50_000))
    for id in ["a", "b", "c"] {
      try await replica.write { try $0.insert("book", ["id": .text(id), "owner": "ana", "cover": cover]) }
    }
    try await replica.write("gone") { tx in for id in ["a", "b"] { try tx.delete(RowKey("book", .text(id))) } }
    _ = try await engine(replica, harbour).syncOnce(within: .seconds(5))
    let before = try await replica.size()
    #expect(before.free > 90_000)
    try await replica.vacuum()
    let after = try await replica.size()
    #expect(after.free == 0)
    #expect(after.file < before.file - 90_000)
    #expect(after.wal == 0)
    #expect(after.tables.map(\.rows) == before.tables.map(\.rows))
    #expect(try await replica.checkIntegrity() == [])
  }

  @Test func `vacuum is refused when space is short, and when the file is locked`() throws {
    let pad = try Pad()
    _ = try pad.store.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    var asked: Int64 = 0
    func refusal(_ left: Int64) throws -> StoreError? {
      #expect(throws: StoreError.self) {
        try pad.store.vacuum { _ in
          asked += 1
          return left
        }
      }
    }
    #expect(try refusal(10_000)?.code == .noSpace)
    #expect(asked == 1)
    let other = try SQLiteConnection(path: pad.folder.path("a.db"), mode: .writer)
    try other.execute("BEGIN IMMEDIATE")
    #expect(try refusal(.max)?.code == .locked)
    try other.execute("COMMIT")
    try pad.store.vacuum { _ in nil }
    #expect(try pad.store.outboxCount() == 1)
  }

  // MARK: Integrity

  /// A store with confirmed rows and waiting changes of them.
  private func desk() throws -> Desk {
    let desk = try Desk()
    for id in ["dune", "emma", "it"] { try desk.insert(id, ["title": .text(id)]) }
    try desk.sync()
    try desk.update(Desk.dune, ["title": "Dune Messiah"])
    try desk.insert("new", ["title": "new"])
    let gone = try desk.insert("void")
    try desk.store.discard(gone)
    return desk
  }

  private func dump(_ desk: Desk) throws -> [String] {
    try ["book", "skerry_base", "skerry_spaces", "skerry_outbox", "skerry_subjects", "skerry_state"].flatMap {
      try desk.query("SELECT * FROM main.\($0)")
    }
  }

  @Test func `a store that is whole has no faults, and looking changes nothing`() throws {
    let desk = try desk()
    let before = try dump(desk)
    #expect(try desk.store.integrityFaults() == [])
    #expect(try dump(desk) == before)
    try desk.sync()
    #expect(try desk.store.integrityFaults() == [])
  }

  @Test(arguments: [
    ("UPDATE main.book SET title = 'x' WHERE id = 'emma'", "digest"),
    ("DELETE FROM main.book WHERE id = 'it'", "digest"),
    ("UPDATE skerry_spaces SET sum = zeroblob(length(sum)) WHERE count > 0", "digest"),
    ("UPDATE main.book SET title = 'x' WHERE id = 'dune'", "visible"),
    ("DELETE FROM main.book WHERE id = 'new'", "visible"),
    ("UPDATE skerry_outbox SET label = 'x'", "checksum"),
    ("UPDATE skerry_outbox SET ops = x'80', sum = NULL WHERE void = 0", "visible"),
    ("UPDATE skerry_outbox SET ops = x'ff'", "cannot be read"),
    ("DELETE FROM skerry_subjects", "index"),
    ("DELETE FROM skerry_subjects", "apart"), ("UPDATE skerry_base SET key = x'ff'", "key"),
  ])
  func `what was tampered with is told`(_ sql: String, _ word: String) throws {
    let desk = try desk()
    try desk.store.withConnection { try $0.execute(sql) }
    let before = try dump(desk)
    let faults = try desk.store.integrityFaults()
    #expect(faults.contains { $0.contains(word) }, "\(faults)")
    #expect(!faults.joined().contains("Messiah"))
    #expect(try dump(desk) == before)
  }

  @Test func `a file of before there were checksums gets them when it is opened`() throws {
    let path = folder.path("old.db")
    let catalog = try Catalog(.library)
    do {
      let store = try Store(path: path, account: "ana", catalog: catalog, ambient: ambient)
      _ = try store.write("a") { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
      try store.withConnection { connection in
        for table in ["skerry_outbox", "skerry_archive"] {
          try connection.execute("ALTER TABLE \(table) DROP COLUMN sum")
        }
      }
    }
    let store = try Store(path: path, account: "ana", catalog: catalog, ambient: ambient)
    let sums = try store.withConnection { try $0.query("SELECT length(sum) FROM skerry_outbox") { $0.integer(0) } }
    #expect(sums == [8])
    _ = try store.write("b") { try $0.update(Desk.dune, ["title": "x"]) }
    #expect(try store.integrityFaults() == [])
  }
}
