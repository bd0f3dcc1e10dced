// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

@testable import Skerry

/// Its own work, without a store: who is woken by what.
@Suite("The board of changes") struct ChangeBoardTests {
  private let board = ChangeBoard()

  /// A task that waits for tables, once it does.
  private func waiter(_ tables: Set<String>) async -> Task<Void, Never> {
    let sum = board.counts.sum(tables)
    let before = board.waiting
    let task = Task { [board] in await board.wait(for: tables, since: sum) }
    while board.waiting == before { await Task.yield() }
    return task
  }

  @Test func `who waits for other tables is not woken`() async {
    let a = await waiter(["a"])
    let b = await waiter(["b", "c"])
    board.publish(["a", "x"])
    await a.value
    #expect(board.waiting == 1)
    board.publish(["c"])
    await b.value
    #expect(board.waiting == 0)
  }

  @Test func `a change of nobody knows what wakes all`() async {
    let all = [await waiter(["a"]), await waiter(["b"])]
    board.publishAll()
    for task in all { await task.value }
    #expect(board.waiting == 0)
  }

  @Test func `what changed since the mark ends the wait at once`() async {
    let sum = board.counts.sum(["a"])
    board.publish(["a"])
    await board.wait(for: ["a"], since: sum)
    let later = board.counts.sum(["a"])
    board.publishAll()
    await board.wait(for: ["a"], since: later)
    #expect(board.waiting == 0)
  }

  @Test func `a cancelled wait ends, before and after it has begun`() async {
    let task = await waiter(["a"])
    task.cancel()
    await task.value
    let sum = board.counts.sum(["a"])
    let early = Task { [board] in
      withUnsafeCurrentTask { $0?.cancel() }
      await board.wait(for: ["a"], since: sum)
    }
    await early.value
    #expect(board.waiting == 0)
  }
}
