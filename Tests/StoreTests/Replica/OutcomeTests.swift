// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// What an app hears and reads of the outcomes of its writes.
@Suite struct OutcomeTests: EngineBench {
  let folder: TemporaryFolder
  let ambient = VirtualAmbient(seed: 13)
  let clock = ManualClock()

  init() throws { folder = try TemporaryFolder() }

  private func titles(_ replica: Replica) async throws -> [Value?] {
    try await replica.read("SELECT title FROM book").map { $0["title"] }
  }

  @Test func `what happens is told in order`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    var events = replica.events().makeAsyncIterator()
    let id = try #require(try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) })
    _ = try await engine.syncOnce(within: .seconds(1))
    #expect(await events.next() == .changed(tables: ["book"]))
    #expect(await events.next() == .settled([id]))
    #expect(await events.next() == .consistent)
    try harbour.withWorld { world in
      try world.foreign.execute("INSERT INTO shelf(id) VALUES ('s')")
      try world.foreign.execute("INSERT INTO reader(id, shelf, user) VALUES ('r', 's', 'ana')")
    }
    _ = try await engine.syncOnce(within: .seconds(1))
    #expect(await events.next() == .changed(tables: ["reader", "shelf"]))
    #expect(await events.next() == .consistent)
    try harbour.withWorld { try $0.foreign.execute("DELETE FROM reader") }
    _ = try await engine.syncOnce(within: .seconds(1))
    #expect(await events.next() == .changed(tables: ["reader", "shelf"]))
    #expect(await events.next() == .accessLost("shelf:s"))
    #expect(try await replica.read(.lostSpaces) == ["shelf:s"])
    try await replica.acknowledgeLoss(of: "shelf:s")
    #expect(try await replica.read(.lostSpaces).isEmpty)
  }

  @Test func `a refusal is told, read and acknowledged`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    try harbour.withWorld { try $0.foreign.execute("INSERT INTO book(id, owner) VALUES ('dune', 'ben')") }
    var events = replica.events().makeAsyncIterator()
    let id = try #require(
      try await replica.write("mine") { try $0.insert("book", ["id": "dune", "owner": "ana", "title": "mine"]) })
    _ = try await engine(replica, harbour).syncOnce(within: .seconds(1))
    #expect(try await titles(replica).isEmpty)
    #expect(await events.next() == .changed(tables: ["book"]), "it is gone from the screen")
    #expect(await events.next() == .settled([id]))
    let refusal = try #require(try await replica.read(.rejections).first)
    #expect(refusal.label == "mine")
    #expect(refusal.code == .exists)
    #expect(refusal.operations.count == 1)
    #expect(refusal.reason?.contains("mine") == false)
    try await replica.acknowledge(refusal)
    #expect(try await replica.read(.rejections).isEmpty)
  }

  @Test func `a space that a reset gives back is lost no longer`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    try harbour.withWorld { world in
      try world.foreign.execute("INSERT INTO shelf(id) VALUES ('s')")
      try world.foreign.execute("INSERT INTO reader(id, shelf, user) VALUES ('r', 's', 'ana')")
    }
    _ = try await engine.syncOnce(within: .seconds(1))
    try harbour.withWorld { try $0.foreign.execute("DELETE FROM reader") }
    _ = try await engine.syncOnce(within: .seconds(1))
    #expect(try await replica.read(.lostSpaces) == ["shelf:s"])
    try harbour.withWorld { world in
      try world.foreign.execute("INSERT INTO reader(id, shelf, user) VALUES ('r', 's', 'ana')")
      try world.server.beginEpoch("second")
    }
    _ = try await engine.syncOnce(within: .seconds(1))
    #expect(try await replica.read("SELECT id FROM shelf").count == 1)
    #expect(try await replica.read(.lostSpaces).isEmpty)
  }

  @Test func `what a restored server lacks is offered in the round that finds it out, and not an interval later`()
    async throws
  {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    _ = try await engine.syncOnce(within: .seconds(1))
    try harbour.withWorld { world in
      // As from a backup of before the write.
      for table in ["book", "skerry_receipts", "skerry_homes", "skerry_numbers"] {
        try world.foreign.execute("DELETE FROM \(table)")
      }
      try world.server.beginEpoch("second")
    }
    _ = try await engine.syncOnce(within: .seconds(1))
    #expect(try await replica.facts().pending == 0)
    #expect(try await replica.read("SELECT id FROM book").count == 1)
    let there = try harbour.withWorld { try $0.foreign.query("SELECT id FROM book") { $0.text(0) } }
    #expect(there == ["dune"])
  }

  @Test func `an entry that was set aside is offered again when a person says so`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    harbour.set(.answers(TransportResponse(status: 413, contentType: "application/problem+json", body: [])))
    _ = try await engine.syncOnce(within: .seconds(1))
    let entry = try #require(try await replica.read(.outbox).first)
    #expect(entry.state == .failed)
    #expect(entry.lastError?.isEmpty == false)
    harbour.set(.fair)
    ambient.advance(by: 600_000)
    _ = try await engine.syncOnce(within: .seconds(1))
    #expect(try await replica.facts().pending == 1)
    try await replica.retry(entry)
    _ = try await engine.syncOnce(within: .seconds(1))
    #expect(try await replica.facts().pending == 0)
  }
}
