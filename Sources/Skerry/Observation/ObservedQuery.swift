// SPDX-License-Identifier: Apache-2.0

import SkerryRecords
import SkerryStore

/// What a query reads, now and after each change: a sequence without an end of its own.
///
/// The first element comes at once. Another comes when a table that the query reads has changed *and* the answer is another: a
/// write elsewhere costs an observer nothing, and one of rows that it does not read costs it a read, but no element. Changes
/// that come while the reader is at work are one, so a slow reader gets the newest answer and never a backlog.
///
/// While the replica is suspended it waits, and reads anew when that is over. The sequence ends when its task is cancelled.
public struct ObservedQuery<Value: Sendable>: AsyncSequence, Sendable {
  /// One answer.
  public typealias Element = [Value]

  private let replica: Replica
  private let query: Query<Value>

  init(_ replica: Replica, _ query: Query<Value>) {
    self.replica = replica
    self.query = query
  }

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator { Iterator(replica: replica, query: query) }

  /// Gives one answer after the other.
  public struct Iterator: AsyncIteratorProtocol {
    let replica: Replica
    let query: Query<Value>
    private var last: (fingerprint: AnswerFingerprint, tables: Set<String>, sum: UInt64)?

    init(replica: Replica, query: Query<Value>) {
      self.replica = replica
      self.query = query
    }

    /// The first answer, or the next that is another than the last one; nil once the task is cancelled.
    ///
    /// - Throws: as `Replica.read(_:)`.
    public mutating func next() async throws -> [Value]? {
      while !Task.isCancelled {
        if let last {
          await replica.board.wait(for: last.tables, since: last.sum)
          if Task.isCancelled { return nil }
        }
        let counts = replica.board.counts
        let answer: Replica.ObservedAnswer<Value>
        do { answer = try await replica.answer(query, isObserved: true) } catch let error as StoreError
          where error.code == .suspended
        {
          await replica.board.wait(for: [], since: counts.sum([]))
          continue
        }
        let isNew = answer.fingerprint != last?.fingerprint
        last = (answer.fingerprint, answer.tables, counts.sum(answer.tables))
        if isNew { return answer.elements }
      }
      return nil
    }
  }
}
