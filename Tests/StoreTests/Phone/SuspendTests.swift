// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryModel
import SkerryRecords
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

@testable import Skerry

/// A replica whose file is closed for a while, and what others do to the file meanwhile.
@Suite struct SuspendTests: EngineBench {
  let folder: TemporaryFolder
  let ambient = VirtualAmbient(seed: 31)
  let clock = ManualClock()
  private let titles = Query(String.self, "SELECT title FROM book ORDER BY id")

  init() throws { folder = try TemporaryFolder() }

  private func insert(_ id: String, _ replica: Replica) async throws {
    try await replica.write { try $0.insert("book", ["id": .text(id), "owner": "ana", "title": .text(id)]) }
  }

  /// A writer with the file for itself: WAL allows that only if nobody else has it open
  /// (https://www.sqlite.org/pragma.html#pragma_locking_mode).
  private func takeWhole(_ id: String) throws {
    let other = try SQLiteConnection(path: folder.path("a.db"), mode: .writer, busyTimeout: 0)
    try other.execute("PRAGMA locking_mode = EXCLUSIVE")
    try other.execute("BEGIN EXCLUSIVE; UPDATE book SET title = '\(id)' WHERE id = 'dune'; COMMIT")
  }

  /// The files of the store that this process has open, and locks on them.
  private func held() throws -> [String] {
    #if os(Linux)
      let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      return open.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0) }
        .filter { $0.hasPrefix(folder.path("a.db")) }
    #else
      return []
    #endif
  }

  @Test func `after suspending no file is open, no lock is held, and another process can have the file for itself`()
    async throws
  {
    let replica = try await replica()
    try await insert("dune", replica)
    #expect(try await replica.read(titles) == ["dune"])
    #if os(Linux)
      #expect(try held().count > 2)
    #endif
    #expect(throws: SQLiteError.self) { try takeWhole("no") }
    await replica.suspend()
    #expect(try held() == [])
    #expect(!FileManager.default.fileExists(atPath: folder.path("a.db-wal")))
    try takeWhole("taken")
    try await replica.resume()
    #expect(try await replica.read(titles) == ["taken"])
  }

  @Test func `while it is suspended each call says so, and that resuming helps`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    try await insert("dune", replica)
    await replica.suspend()
    await replica.suspend()
    #expect(await replica.isSuspended)
    func refused(_ call: () async throws -> Void) async {
      let error = await #expect(throws: StoreError.self) { try await call() }
      #expect(error?.code == .suspended)
      #expect(error?.message.contains("resume()") == true)
    }
    await refused { try await insert("emma", replica) }
    await refused { _ = try await replica.read(titles) }
    await refused { _ = try await replica.facts() }
    await refused { _ = try await replica.supportBundle() }
    await refused { _ = try await replica.explain(RowID<Crm.Person>("luz")) }
    await refused { _ = try await engine.syncOnce(within: .seconds(1)) }
    #expect(harbour.requests == [])
    try await replica.noticeOtherProcesses()
    try await replica.resume()
    try await replica.resume()
    #expect(try await engine.syncOnce(within: .seconds(1)).settled == 1)
    #expect(try await replica.read(titles) == ["dune"])
    try await insert("emma", replica)
    #expect(try await engine.syncOnce(within: .seconds(1)).settled == 1)
    #expect(try await replica.facts().pending == 0)
  }

  @Test(.timeLimit(.minutes(1))) func `an observer waits, and sees what another process has written`() async throws {
    let replica = try await replica()
    var answers = replica.observe(titles).makeAsyncIterator()
    #expect(try await answers.next() == [])
    await replica.suspend()
    let next = Task { [answers] in
      var answers = answers
      return try await answers.next()
    }
    var late = replica.observe(titles).makeAsyncIterator()
    let first = Task { [late] in
      var late = late
      return try await late.next()
    }
    do {
      let other = try Store(
        path: folder.path("a.db"), account: "ana", catalog: replica.catalog, ambient: VirtualAmbient(seed: 32))
      _ = try other.write { try $0.insert("book", ["id": "emma", "owner": "ana", "title": "Emma"]) }
    }
    // The one that begins while it is suspended waits as well.
    while replica.board.waiting < 2 { await Task.yield() }
    try await replica.resume()
    #expect(try await next.value == ["Emma"])
    #expect(try await first.value == ["Emma"])
    late = replica.observe(titles).makeAsyncIterator()
    #expect(try await late.next() == ["Emma"])
    // Its number comes after the other's.
    try await insert("dune", replica)
    #expect(try await replica.read(.outbox).map(\.item) == [Desk.emma, Desk.dune])
  }

  @Test(.timeLimit(.minutes(1))) func `a running engine waits without asking anybody, and goes on`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    let running = Task { try await engine.run() }
    await clock.sleepers(reach: 1)
    let before = harbour.requests.count
    await replica.suspend()
    await engine.requestSync()
    pass(120_000)
    do {
      let other = try Store(
        path: folder.path("a.db"), account: "ana", catalog: replica.catalog, ambient: VirtualAmbient(seed: 32))
      _ = try other.write { try $0.insert("book", ["id": "emma", "owner": "ana"]) }
    }
    #expect(harbour.requests.count == before)
    try await replica.resume()
    await harbour.requests(reach: before + 2)
    await clock.sleepers(reach: 1)
    #expect(try await replica.facts().pending == 0)
    running.cancel()
    try await running.value
  }

  @Test(.timeLimit(.minutes(1))) func `an answer that comes while it is suspended is asked for again`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    try await insert("dune", replica)
    harbour.hold()
    let running = Task { try await engine.run() }
    await harbour.requests(reach: 1)
    await replica.suspend()
    harbour.letGo()
    try await replica.resume()
    await clock.sleepers(reach: 1)
    #expect(try await replica.facts().pending == 0)
    let rows = try harbour.withWorld { try $0.foreign.query("SELECT id FROM book") { $0.text(0) } }
    #expect(rows == ["dune"])
    running.cancel()
    try await running.value
  }

  @Test func `a file that another process has brought to a newer schema is not resumed`() async throws {
    let replica = try await replica()
    await replica.suspend()
    _ = try Store(
      path: folder.path("a.db"), account: "ana", catalog: try Catalog(.nextLibrary), ambient: VirtualAmbient(seed: 32))
    let error = await #expect(throws: StoreError.self) { try await replica.resume() }
    #expect(error?.code == .otherSchema)
    #expect(await replica.isSuspended)
  }

  @Test func `opening it again while it is suspended gives the same replica`() async throws {
    let replica = try await replica()
    await replica.suspend()
    #expect(try await self.replica() === replica)
    try await replica.resume()
  }

  // MARK: Other processes that have the file open at the same time

  @Test(.timeLimit(.minutes(1))) func `a commit of another process wakes observers when the replica is told of it`()
    async throws
  {
    let replica = try await replica()
    var answers = replica.observe(titles).makeAsyncIterator()
    #expect(try await answers.next() == [])
    let other = try Store(
      path: folder.path("a.db"), account: "ana", catalog: replica.catalog, ambient: VirtualAmbient(seed: 32))
    _ = try other.write { try $0.insert("book", ["id": "emma", "owner": "ana", "title": "Emma"]) }
    try await replica.noticeOtherProcesses()
    #expect(try await answers.next() == ["Emma"])
    _ = try other.write { try $0.update(Desk.emma, ["title": "E"]) }
    let watching = Task { [clock] in try await replica.watchOtherProcesses(every: .seconds(2), clock: clock) }
    #expect(try await answers.next() == ["E"])
    await clock.sleepers(reach: 1)
    _ = try other.write { try $0.update(Desk.emma, ["title": "M"]) }
    clock.advance(by: .seconds(2))
    #expect(try await answers.next() == ["M"])
    watching.cancel()
    try await watching.value
  }

  @Test(.timeLimit(.minutes(1))) func `a write of another process is pushed by the engine that runs`() async throws {
    let harbour = try Harbour()
    let replica = try await replica()
    let engine = engine(replica, harbour)
    let running = Task { try await engine.run() }
    await clock.sleepers(reach: 1)
    let before = harbour.requests.count
    let other = try Store(
      path: folder.path("a.db"), account: "ana", catalog: replica.catalog, ambient: VirtualAmbient(seed: 32))
    _ = try other.write { try $0.insert("book", ["id": "emma", "owner": "ana", "title": "Emma"]) }
    try await replica.noticeOtherProcesses()
    await harbour.requests(reach: before + 2)
    #expect(harbour.requests[before] == "/v1/push")
    running.cancel()
    try await running.value
    // Looking when nothing is new asks for nothing.
    let after = harbour.requests.count
    try await replica.noticeOtherProcesses()
    #expect(harbour.requests.count == after)
  }
}
