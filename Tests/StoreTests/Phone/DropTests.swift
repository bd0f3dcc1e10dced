// SPDX-License-Identifier: Apache-2.0
import Foundation
import Skerry
import SkerryFileKit
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Synchronization
import Testing

/// Writes that another process leaves in a folder, and what becomes of them.
@Suite struct DropTests {
  let folder: TemporaryFolder
  let ambient = VirtualAmbient(seed: 41)

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path("drops"), withIntermediateDirectories: false)
  }

  private func drops(_ files: FileSystem = .system) -> DropFolder {
    DropFolder(folder.path("drops"), files: files, ambient: ambient)
  }

  private func store(_ schema: Schema = .library) throws -> Store {
    try Store(path: folder.path("a.db"), account: "ana", catalog: try Catalog(schema), ambient: ambient)
  }

  @discardableResult
  private func drop(
    _ id: String, files: FileSystem = .system, account: AccountID = "ana", schema: Schema = .library
  ) throws -> MutationID? {
    ambient.advance(by: 1)
    return try drops(files).write("share \(id)", account: account, schema: schema) {
      try $0.insert("book", ["id": .text(id), "owner": "ana", "copies": 1])
      try $0.set(RowKey("book", .text(id)), ["title": .text(id)])
    }
  }

  private func files() throws -> [String] { try FileSystem.system.names(in: folder.path("drops")) }

  private func rows(_ store: Store) throws -> [String] {
    try store.withConnection {
      try $0.query("SELECT id || ' ' || coalesce(title, '-') || ' ' || copies FROM book ORDER BY id") { $0.text(0) }
    }
  }

  private func notes(_ store: Store) throws -> Int64 {
    try store.withConnection { try $0.first("SELECT count(*) FROM skerry_done") { $0.integer(0) } ?? 0 }
  }

  @Test func `a drop becomes rows and an outbox entry under its own id, label and time, and its file goes`() throws {
    let id = try drop("dune")
    let madeAt = ambient.now()
    ambient.advance(by: 60_000)
    let store = try store()
    let report = try store.collect(drops())
    #expect(report.collected == [try #require(id)])
    #expect(report.refused.isEmpty)
    let entry = try #require(try store.outbox().first)
    #expect(entry.id == id)
    #expect(entry.label == "share dune")
    #expect(entry.madeAt == madeAt)
    #expect(entry.operations.count == 2)
    // The operations name the incarnation that this very mutation begins.
    #expect(entry.operations[1].incarnation != nil)
    #expect(try rows(store) == ["dune dune 1"])
    #expect(try files() == [])
    #expect(try notes(store) == 0)
    #expect(try store.collect(drops()).isEmpty)
    #expect(FileSystem.system.mode(of: folder.path("drops")) != nil)
  }

  @Test func `records are dropped by their properties`() async throws {
    let replica = try await Replica.open(
      path: folder.path("crm.db"), account: "ana", schema: Crm.schema, ambient: ambient, drops: drops())
    let team = Crm.Team(name: "Capitol")
    let luz = Crm.Person(team: team.id, name: "Luz")
    try await replica.write { tx in
      try tx.insert(team)
      try tx.insert(luz)
      try tx.insert(Crm.Person(team: team.id, name: "Max"))
    }
    let schema = Crm.schema
    let max = try #require(try await replica.first(Query(Crm.Person.self, "SELECT * FROM people WHERE name = 'Max'")))
    try drops().write("from the share sheet", account: "ana", schema: schema) { tx in
      try tx.insert(Crm.Person(team: team.id, name: "Zoe"))
      try tx.set(\.phone, of: luz.id, to: "1")
      try tx.increment(\.visits, of: luz.id, by: 2)
      try tx.delete(max.id)
    }
    #expect(try await replica.collectDrops().collected.count == 1)
    let people = try await replica.read(Query(Crm.Person.self, "SELECT * FROM people ORDER BY name"))
    #expect(people.map(\.name) == ["Luz", "Zoe"])
    #expect(people[0].phone == "1")
    #expect(people[0].visits == 2)
    #expect(people[1].isActive)
    #expect(throws: StoreError.self) {
      try drops().write(account: "ana", schema: schema) { try $0.set(\.visits, of: luz.id, to: 7) }
    }
    #expect(try drops().write(account: "ana", schema: schema) { _ in } == nil)
    #expect(try files() == [])
  }

  // MARK: Deaths

  private struct Death: Error {}

  /// Dies before the n-th step, and at each one after it.
  private final class Fuse: Sendable {
    private let left: Mutex<Int>
    init(_ count: Int) { left = Mutex(count) }
    func burn() throws {
      let isOver = left.withLock { left in
        left -= 1
        return left < 0
      }
      if isOver { throw Death() }
    }
  }

  @Test func `a process that dies at any step of dropping leaves a whole drop or none`() throws {
    var (number, died) = (0, 0)
    var before = 0
    while true {
      let fuse = Fuse(number)
      let result = Result { try drop("b\(number)", files: FileSystem { _ in try fuse.burn() }) }
      let store = try store()
      let report = try store.collect(drops())
      #expect(report.refused.isEmpty)
      #expect(report.collected.count <= 1)
      before += report.collected.count
      #expect(try rows(store).count == before)
      if case .success = result {
        #expect(report.collected.count == 1)
        break
      }
      died += 1
      number += 1
    }
    #expect(died >= 6)
    #expect(before > 1)
  }

  @Test func `a process that dies at any step of collecting has taken each drop in once after the next start`() throws {
    var number = 0
    var isThrough = false
    var seen: Set<Int> = []
    while !isThrough {
      let ids = [try drop("x\(number)"), try drop("y\(number)")]
      let fuse = Fuse(number)
      do {
        let store = try store()
        try store.withConnection { $0.monitor = { _ in try fuse.burn() } }
        do {
          _ = try store.collect(drops(FileSystem { _ in try fuse.burn() }))
          isThrough = true
        } catch {}
      }
      let store = try store()
      let report = try store.collect(drops())
      seen.insert(report.collected.count)
      #expect(report.refused.isEmpty)
      #expect(try files() == [])
      #expect(try notes(store) == 0, "step \(number)")
      #expect(try store.outbox().suffix(2).map(\.id) == ids.compactMap { $0 })
      #expect(try store.outboxCount() == 2 * (number + 1))
      #expect(try rows(store).count == 2 * (number + 1))
      number += 1
    }
    #expect(number > 30)
    #expect(seen == [0, 1, 2])
  }

  @Test func `two processes that collect at the same time take each drop in once`() throws {
    try drop("dune")
    let (one, two) = (try store(), try store())
    let isFirst = Mutex(true)
    try two.withConnection { connection in
      connection.monitor = { [self] sql in
        // The file has been read by now.
        guard sql == "BEGIN IMMEDIATE",
          isFirst.withLock({
            let was = $0
            $0 = false
            return was
          })
        else { return }
        _ = try one.collect(drops())
      }
    }
    #expect(try two.collect(drops()).collected == [])
    #expect(try one.outboxCount() == 1)
    #expect(try two.outboxCount() == 1)
    #expect(try notes(two) == 0)
  }

  // MARK: What cannot be taken in

  @Test func `a damaged drop is set aside byte for byte, wherever the damage is`() throws {
    try drop("dune")
    let name = try #require(try files().first)
    let path = folder.path("drops/" + name)
    let whole = try #require(try FileSystem.system.read(path))
    let store = try store()
    var cases = stride(from: 0, to: whole.count, by: 7).map { place in
      var bytes = whole
      bytes[place] ^= 0x10
      return bytes
    }
    cases += [Array(whole.dropLast()), Array(whole.prefix(20)), [], whole + [0]]
    for bytes in cases {
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let report = try store.collect(drops())
      #expect(report.collected == [])
      #expect(report.refused.map(\.reason.code) == [.damaged])
      let kept = try #require(report.refused.first?.path)
      #expect(try FileSystem.system.read(kept) == bytes)
      #expect(try store.collect(drops()).isEmpty)
    }
    #expect(try store.outboxCount() == 0)
    try Data(whole).write(to: URL(fileURLWithPath: path))
    #expect(try store.collect(drops()).collected.count == 1)
  }

  @Test func `a drop that does not fit the rows is set aside with the reason that a write would have had`() throws {
    let store = try store()
    _ = try store.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    let id = try drop("dune")
    try drops().write(account: "ana", schema: .library) { try $0.set(Desk.emma, ["title": "Emma"]) }
    let report = try store.collect(drops())
    #expect(report.collected == [])
    #expect(Set(report.refused.map(\.reason.code)) == [.exists, .notFound])
    #expect(report.refused.contains { $0.id == id })
    #expect(report.refused.allSatisfy { $0.id != nil })
    #expect(try files().count == 2)
    #expect(try store.outboxCount() == 1)
    #expect(try notes(store) == 0)
  }

  @Test func `drops of the same millisecond are taken in though the one that changes a row comes first`() throws {
    let store = try store()
    for number in 0..<8 {
      try drop("b\(number)")
      try drops().write(account: "ana", schema: .library) {
        try $0.set(RowKey("book", .text("b\(number)")), ["title": "later"])
      }
    }
    let report = try store.collect(drops())
    #expect(report.refused.isEmpty)
    #expect(report.collected.count == 16)
    #expect(try rows(store).allSatisfy { $0.contains("later") })
  }

  @Test func `another account's drops are left alone, another app's are set aside`() throws {
    try drop("dune", account: "ben")
    var museum = Schema.library
    museum.name = "museum"
    try drop("emma", schema: museum)
    let store = try store()
    let report = try store.collect(drops())
    #expect(report.refused.map(\.reason.code) == [.otherSchema])
    #expect(try files().count == 2)
    let bens = try Store(
      path: folder.path("b.db"), account: "ben", catalog: try Catalog(.library), ambient: ambient)
    #expect(try bens.collect(drops()).collected.count == 1)
  }

  @Test func `a drop of an earlier version is brought to this one, and one of a later version waits`() throws {
    try drop("dune", schema: .nextLibrary)
    do {
      let old = try store()
      let report = try old.collect(drops())
      #expect(report.collected == [])
      #expect(report.waiting == (try files()))
      try drop("emma")
    }
    let new = try store(.nextLibrary)
    #expect(try new.collect(drops()).collected.count == 2)
    #expect(try rows(new) == ["dune dune 1", "emma emma 1"])
  }

  @Test func `what is wrong with the store is not the drop's fault`() throws {
    let store = try store()
    try drop("dune")
    _ = try Store(
      path: folder.path("a.db"), account: "ana", catalog: try Catalog(.nextLibrary), ambient: VirtualAmbient(seed: 2))
    // Another process has brought the file to a newer schema.
    expect(.otherSchema) { _ = try store.collect(drops()) }
    #expect(try files().filter { $0.hasSuffix(".drop") }.count == 1)
    #expect(try self.store(.nextLibrary).collect(drops()).collected.count == 1)
  }

  // MARK: When

  @Test(.timeLimit(.minutes(1))) func `drops are collected at opening, when others are noticed, and by the engine`()
    async throws
  {
    let harbour = try Harbour()
    let clock = ManualClock()
    try drop("a")
    let replica = try await Replica.open(
      path: folder.path("r.db"), account: "ana", schema: .library, ambient: ambient, drops: drops())
    let ids = Query(String.self, "SELECT id FROM book ORDER BY id")
    #expect(try await replica.read(ids) == ["a"])
    try drop("b")
    try await replica.noticeOtherProcesses()
    #expect(try await replica.read(ids) == ["a", "b"])
    await replica.suspend()
    try drop("c")
    await #expect(throws: StoreError.self) { try await replica.collectDrops() }
    try await replica.resume()
    #expect(try await replica.read(ids) == ["a", "b", "c"])
    try drop("d")
    let engine = SyncEngine(replica, transport: harbour, clock: clock)
    #expect(try await engine.syncOnce(within: .seconds(5)).settled == 4)
    let rows = try harbour.withWorld { try $0.foreign.query("SELECT id FROM book ORDER BY id") { $0.text(0) } }
    #expect(rows == ["a", "b", "c", "d"])
    let events = replica.events()
    try Data("x".utf8).write(
      to: URL(fileURLWithPath: folder.path("drops/" + StorePlace.accountMark("ana") + "-1.drop")))
    _ = try await engine.syncOnce(within: .seconds(5))
    for await event in events {
      guard case .dropsRefused(let reasons) = event else { continue }
      #expect(reasons.count == 1)
      break
    }
  }
}
