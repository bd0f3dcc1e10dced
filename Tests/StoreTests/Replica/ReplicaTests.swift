// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

@Suite struct ReplicaTests {
  private let folder: TemporaryFolder
  private let ambient = VirtualAmbient(seed: 11)

  init() throws { folder = try TemporaryFolder() }

  private func open(_ account: AccountID = "ana", _ schema: Schema = .library) async throws -> Replica {
    try await Replica.open(path: folder.path("a.db"), account: account, schema: schema, ambient: ambient)
  }

  private func filled() async throws -> Replica {
    let replica = try await open()
    try await replica.write("buy") { try $0.insert("book", ["id": "dune", "owner": "ana", "title": "Dune"]) }
    return replica
  }

  @Test func `opening a store twice in one process gives the same replica`() async throws {
    let one = try await open()
    let two = try await open()
    #expect(one === two)
    await #expect(throws: StoreError.self) { try await open("ben") }
    await #expect(throws: StoreError.self) { try await open("ana", .nextLibrary) }
  }

  @Test func `a store that nobody holds is opened anew, with all that it held`() async throws {
    var number: ObjectIdentifier?
    do { number = ObjectIdentifier(try await filled()) }
    let again = try await open()
    #expect(try await again.read(.outbox).count == 1)
    #expect(try await again.read("SELECT title FROM book").map { $0["title"] } == ["Dune"])
    _ = number
  }

  @Test func `an account's file is named by a hash, so that no account names another path`() async throws {
    let names = ["ana", "../ben", "a/b", "", "\u{212A}", "K"].map { Replica.fileName(of: AccountID($0)) }
    #expect(Set(names).count == names.count)
    #expect(names.allSatisfy { $0.hasPrefix("skerry-") && $0.hasSuffix(".db") && !$0.contains("/") })
  }

  @Test func `hidden columns never show`() async throws {
    let replica = try await filled()
    let row = try #require(try await replica.read("SELECT * FROM book").first)
    #expect(row.columns == Schema.library.features[0].tables[0].columns.map(\.name))
    #expect(row.values.count == row.columns.count)
    for sql in [
      "SELECT book.* FROM book", "SELECT * FROM (SELECT * FROM book)",
      "SELECT * FROM book JOIN loan USING (id)", "WITH b AS (SELECT * FROM book) SELECT * FROM b",
    ] {
      for row in try await replica.read(sql) { #expect(!row.columns.contains { $0.hasPrefix("skerry_") }, "\(sql)") }
    }
    #expect(row["skerry_tag"] == nil)
    await #expect(throws: SQLiteError.self) { try await replica.read("SELECT skerry_tag FROM book") }
  }

  static let writes = [
    "INSERT INTO book(id, owner) VALUES ('x', 'ana')", "UPDATE book SET title = 'x'", "DELETE FROM book",
    "DELETE FROM skerry_outbox", "UPDATE skerry_state SET account = 'ben'", "DROP TABLE book", "CREATE TABLE t(a)",
    "REPLACE INTO book(id, owner) VALUES ('dune', 'ana')", "UPDATE book SET title = 'x' RETURNING *", "VACUUM",
    "PRAGMA user_version = 5", "ALTER TABLE book ADD COLUMN x", "ATTACH 'other.db' AS other", "BEGIN IMMEDIATE",
    "WITH x AS (SELECT 1) DELETE FROM book", "SELECT 1; DELETE FROM book", "", "-- nothing", "REINDEX", "ANALYZE",
  ]

  @Test(arguments: writes)
  func `raw SQL that could write is refused, and changes nothing`(_ sql: String) async throws {
    let replica = try await filled()
    let before = try await replica.read("SELECT * FROM book")
    await #expect(throws: (any Error).self) { try await replica.read(sql) }
    #expect(try await replica.read("SELECT * FROM book") == before)
    #expect(try await replica.read(.outbox).count == 1)
    // The connection that was tried is as good as before.
    try await replica.write { try $0.update(Desk.dune, ["title": "two"]) }
    for _ in 0..<4 { #expect(try await replica.read("SELECT title FROM book").map { $0["title"] } == ["two"]) }
  }

  @Test func `statements that end or open a transaction do no harm to later reads`() async throws {
    let replica = try await filled()
    for sql in ["COMMIT", "ROLLBACK", "SAVEPOINT a", "BEGIN", "PRAGMA query_only = OFF"] {
      _ = try? await replica.read(sql)
    }
    _ = try? await replica.read("DELETE FROM book")
    try await replica.write { try $0.update(Desk.dune, ["title": "two"]) }
    for _ in 0..<8 { #expect(try await replica.read("SELECT title FROM book").map { $0["title"] } == ["two"]) }
  }

  @Test func `values are bound and never pasted`() async throws {
    let replica = try await filled()
    let text = "x' OR 1=1 --"
    try await replica.write { try $0.insert("book", ["id": "emma", "owner": "ana", "title": .text(text)]) }
    let rows = try await replica.read("SELECT id FROM book WHERE title = ?", [.text(text)])
    #expect(rows.map { $0["id"] } == ["emma"])
    await #expect(throws: SQLiteError.self) { try await replica.read("SELECT ?, ?", [1]) }
  }

  @Test func `a result has its values by the names of its columns, compared by bytes`() async throws {
    let replica = try await filled()
    let row = try #require(
      try await replica.read("SELECT 1 AS \"F\u{E4}\", 2.5 AS r, NULL AS n, x'00ff' AS b, title FROM book").first)
    #expect(row["F\u{E4}"] == 1)
    #expect(row["Fa\u{308}"] == nil)
    #expect(row.values == [1, 2.5, nil, .blob([0, 255]), "Dune"])
  }

  @Test func `what is true of a replica that never met its server`() async throws {
    let replica = try await filled()
    let facts = try await replica.facts()
    #expect(facts.pending == 1)
    #expect(facts.syncedAt == nil)
    #expect(!facts.isCatchingUp)
    #expect(facts.digestMismatches == 0)
    #expect(try await replica.read(.rejections).isEmpty)
    #expect(try await replica.read(.lostSpaces).isEmpty)
  }

  @Test func `an entry can be withdrawn through the replica`() async throws {
    let replica = try await filled()
    let entry = try #require(try await replica.read(.outbox).first)
    #expect(entry.label == "buy")
    try await replica.discard(entry)
    #expect(try await replica.read("SELECT * FROM book").isEmpty)
    #expect(try await replica.read(.outbox).map(\.isVoid) == [true])
  }
}
