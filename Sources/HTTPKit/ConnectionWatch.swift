// SPDX-License-Identifier: Apache-2.0

import CSkerryMicroHTTP
import Dispatch
import Synchronization

/// One open connection and when it must have got on.
final class ConnectionRecord: Sendable {
  fileprivate let socket: Int32
  /// A tick of the watch; `Int.max` while nothing is expected of the client.
  fileprivate let deadline = Atomic<Int>(.max)

  init(socket: Int32) { self.socket = socket }
}

/// Ends connections that creep: the library's own time-out starts anew with each byte, so one byte a second would hold
/// a place for ever. It counts ticks and reads no clock, so a test can tick by hand.
///
/// It is shared by all threads. A socket is shut down under the lock under which `closed` takes it out, and the library
/// closes it after that only: the number can never belong to another connection already.
final class ConnectionWatch: Sendable {
  private let open = Mutex<[ObjectIdentifier: ConnectionRecord]>([:])
  private let ticks = Atomic<Int>(0)
  private let limits: HTTPLimits
  private let gate = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "skerry.http.watch")

  init(limits: HTTPLimits) { self.limits = limits }

  /// The ticks so far, to measure a span from.
  var now: Int { ticks.load(ordering: .relaxed) }

  func opened(_ record: ConnectionRecord) {
    open.withLock { $0[ObjectIdentifier(record)] = record }
    headExpected(on: record)
  }

  func closed(_ record: ConnectionRecord) {
    open.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(record)) }
  }

  /// A new connection, or the first line of a request.
  func headExpected(on record: ConnectionRecord) {
    bound(record, since: now, milliseconds: limits.headMilliseconds)
  }

  /// A body is under way, in either direction: `bytes` of it are accounted for, each of which earns time.
  func bodyExpected(on record: ConnectionRecord, since start: Int, bytes: Int) {
    let earned = bytes / max(1, limits.bytesPerSecond) * 1_000
    bound(record, since: start, milliseconds: limits.bodyMilliseconds + earned)
  }

  /// The server is at work; the client may wait.
  func released(_ record: ConnectionRecord) { record.deadline.store(.max, ordering: .relaxed) }

  /// The connection may rest for as long as the library lets it, and then a whole head must follow.
  func rested(_ record: ConnectionRecord) {
    bound(record, since: now, milliseconds: limits.idleSeconds * 1_000 + limits.headMilliseconds)
  }

  private func bound(_ record: ConnectionRecord, since start: Int, milliseconds: Int) {
    let ticks = milliseconds / max(1, limits.watchMilliseconds) + 1
    record.deadline.store(start + ticks, ordering: .relaxed)
  }

  /// Moves time on by one step and shuts down what is late. Returns how many that were.
  @discardableResult
  func tick() -> Int {
    let now = ticks.add(1, ordering: .relaxed).newValue
    return open.withLock { records in
      let late = records.values.filter { $0.deadline.load(ordering: .relaxed) < now }
      for record in late {
        _ = skerry_shut_down(record.socket)
        record.deadline.store(.max, ordering: .relaxed)
      }
      return late.count
    }
  }

  /// Ticks on a thread of its own until `stop`.
  func start(_ report: @escaping @Sendable (HTTPServerEvent) -> Void) {
    queue.async { [self] in
      while gate.wait(timeout: .now() + .milliseconds(limits.watchMilliseconds)) == .timedOut {
        let late = tick()
        if late > 0 { report(.connectionsTimedOut(late)) }
      }
    }
  }

  func stop() { gate.signal() }
}
