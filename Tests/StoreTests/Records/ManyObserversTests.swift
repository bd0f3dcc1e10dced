// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryRecords
import SkerryTestSupport
import Synchronization
import Testing

@testable import Skerry

@Suite("Many observers") struct ManyObserversTests {
  /// How often a query was run.
  private final class Runs: Sendable {
    let count = Mutex(0)

    func counting<T>(_ query: Query<T>) -> Query<T> {
      Query { source in
        self.count.withLock { $0 += 1 }
        return try query.read(source)
      }
    }
  }

  @Test func `a write wakes none of a thousand that watch other tables, and runs no query`() async throws {
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(in: folder.url.path, account: "ana", schema: Crm.schema)
    let runs = Runs()
    let observers = 1_000
    let query = runs.counting(Crm.Search.all)
    let tasks = (0..<observers).map { _ in Task { for try await _ in replica.observe(query) {} } }
    while replica.board.waiting < observers { await Task.yield() }
    #expect(runs.count.withLock { $0 } == observers)

    // Who is woken no longer waits when the write returns.
    try await replica.write { try $0.insert(Crm.Team(name: "Capitol")) }
    #expect(replica.board.waiting == observers)
    #expect(runs.count.withLock { $0 } == observers)

    // One that they watch wakes all of them.
    try await replica.write { try $0.insert(Crm.Search(text: "x")) }
    while runs.count.withLock({ $0 }) < observers * 2 { await Task.yield() }
    for task in tasks { task.cancel() }
    for task in tasks { _ = await task.result }
    #expect(replica.board.waiting == 0)
  }
}
