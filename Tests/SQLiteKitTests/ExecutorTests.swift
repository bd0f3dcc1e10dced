// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import SkerrySQLiteKit
import SkerryTestSupport
import Synchronization
import Testing

/// Blocking calls hold threads of their own. The cooperative pool has one thread a core, so many more actors or readers than
/// cores, each of which waits for all the others, can only meet if none of them waits on that pool. Nor may they wait on
/// Dispatch's shared threads, from which that pool has its own: of those there is one more a second, when all are blocked.
@Suite struct ExecutorTests {
  private actor Worker {
    private let executor: SerialQueueExecutor
    private var isBusy = false
    private var order: [Int] = []

    init(_ number: Int) { executor = SerialQueueExecutor(label: "skerry.test.\(number)") }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func meet(_ barrier: Barrier) -> Bool { barrier.arrive() }

    func note(_ number: Int) -> Bool {
      if isBusy { return false }
      isBusy = true
      defer { isBusy = false }
      order.append(number)
      return true
    }

    func noted() -> [Int] { order }
  }

  /// Opens when so many threads stand before it.
  private final class Barrier: Sendable {
    private let wanted: Int
    private let arrived = Mutex(0)
    private let gate = DispatchSemaphore(value: 0)

    init(_ wanted: Int) { self.wanted = wanted }

    /// Blocks the thread; false if the others did not come, which a test must survive.
    func arrive() -> Bool {
      let count = arrived.withLock { count in
        count += 1
        return count
      }
      if count == wanted {
        for _ in 1..<wanted { gate.signal() }
      } else {
        return gate.wait(timeout: .now() + 5) == .success
      }
      return true
    }
  }

  private static let many = ProcessInfo.processInfo.activeProcessorCount + 30

  @Test func `an actor on its own executor blocks a thread of its own`() async {
    let barrier = Barrier(ExecutorTests.many)
    let met = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<ExecutorTests.many {
        let worker = Worker(number)
        group.addTask { await worker.meet(barrier) }
      }
      return await group.reduce(true) { $0 && $1 }
    }
    #expect(met)
  }

  @Test func `an actor on its own executor does one thing at a time`() async {
    let worker = Worker(0)
    let alone = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<50 { group.addTask { await worker.note(number) } }
      return await group.reduce(true) { $0 && $1 }
    }
    #expect(alone)
    #expect(await worker.noted().sorted() == Array(0..<50))
  }

  @Test func `readers that are awaited read on threads of their own`() async throws {
    let folder = try TemporaryFolder()
    let writer = try GuardedWriter(path: folder.path("a.db"))
    try writer.withConnection { try $0.execute("CREATE TABLE t(id)") }
    let pool = ReaderPool(path: folder.path("a.db"), size: ExecutorTests.many)
    let barrier = Barrier(ExecutorTests.many)
    let met = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<ExecutorTests.many { group.addTask { try await pool.readAsync { _ in barrier.arrive() } } }
      return try await group.reduce(true) { $0 && $1 }
    }
    #expect(met)
  }
}
