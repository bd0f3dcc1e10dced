// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Where commits are told and observers wait, by table.
///
/// A commit costs a look-up for each table that it changed, and wakes those who wait for one of them; observers of other tables
/// cost it nothing. What is missed between two waits is seen by the counts, so nobody has to be told twice.
final class ChangeBoard: Sendable {
  private struct Waiter {
    let tables: Set<String>
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var counts = Counts()
    var waiters: [Int: Waiter] = [:]
    var byTable: [String: Set<Int>] = [:]
    var cancelled: Set<Int> = []
    var next = 0
  }

  /// How often each table has changed.
  struct Counts: Sendable {
    fileprivate var byTable: [String: UInt64] = [:]
    /// Changes of which nobody knows what they touched.
    fileprivate var unknown: UInt64 = 0

    /// They only grow, so their sum differs when one of them does.
    func sum(_ tables: Set<String>) -> UInt64 { tables.reduce(unknown) { $0 &+ (byTable[$1] ?? 0) } }
  }

  private let state = Mutex(State())

  /// Taken before a read: changes that come while it reads are then not missed.
  var counts: Counts { state.withLock { $0.counts } }

  /// How many wait, for tests.
  var waiting: Int { state.withLock { $0.waiters.count } }

  /// Rows of these tables have changed.
  func publish(_ tables: Set<String>) {
    if tables.isEmpty { return }
    wake { state in
      var woken: Set<Int> = []
      for table in tables {
        state.counts.byTable[table, default: 0] += 1
        if let waiting = state.byTable[table] { woken.formUnion(waiting) }
      }
      return woken
    }
  }

  /// Somebody else has changed something.
  func publishAll() {
    wake { state in
      state.counts.unknown += 1
      return Set(state.waiters.keys)
    }
  }

  private func wake(_ change: (inout State) -> Set<Int>) {
    let resumed = state.withLock { state in
      change(&state).sorted().compactMap { ChangeBoard.remove($0, &state)?.continuation }
    }
    for continuation in resumed { continuation.resume() }
  }

  private static func remove(_ number: Int, _ state: inout State) -> Waiter? {
    guard let waiter = state.waiters.removeValue(forKey: number) else { return nil }
    for table in waiter.tables {
      state.byTable[table]?.remove(number)
      if state.byTable[table]?.isEmpty == true { state.byTable[table] = nil }
    }
    return waiter
  }

  /// Waits until the sum of the tables' counts is another, or the task is cancelled.
  func wait(for tables: Set<String>, since sum: UInt64) async {
    let number = state.withLock { state in
      defer { state.next += 1 }
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDue = state.withLock { state in
          if state.cancelled.remove(number) != nil || state.counts.sum(tables) != sum { return true }
          state.waiters[number] = Waiter(tables: tables, continuation: continuation)
          for table in tables { state.byTable[table, default: []].insert(number) }
          return false
        }
        if isDue { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let waiter = ChangeBoard.remove(number, &state)
        if waiter == nil { state.cancelled.insert(number) }
        return waiter
      }
      waiter?.continuation.resume()
    }
    _ = state.withLock { $0.cancelled.remove(number) }
  }
}
