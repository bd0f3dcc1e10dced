// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A few read-only connections to a file, beside the one writer that another part owns. Safe to use from any thread.
///
/// A call that finds all connections in use waits for one. `readAsync` waits and reads on threads of its own, never on
/// the cooperative pool.
public final class ReaderPool: Sendable {
  /// Where `readAsync` reads.
  package enum Lanes: Sendable {
    /// On threads of the pool's own.
    case threads
    /// At once, on the caller's thread: for a world that has only one.
    case caller
  }

  private let path: String
  private let busyTimeout: Int32
  private let vfs: String?
  private let slots: DispatchSemaphore
  private let size: Int
  private let key: CipherKey?
  private struct State {
    var idle: [ConnectionSlot] = []
    var isSuspended = false
  }
  private let state = Mutex(State())
  private let suspending = DispatchSemaphore(value: 1)
  // Serial queues, each with a thread of its own when it needs one. The blocks of a concurrent queue share the threads
  // under the cooperative pool: measured on Linux, as many blocked reads as cores held every other task up for a second.
  private let queues: [DispatchQueue]
  private let loads: Mutex<[Int]>
  private let prepare: @Sendable (SQLiteConnection) throws -> Void

  /// Connections are opened when first needed.
  public convenience init(path: String, size: Int = 4, busyTimeout: Int32 = 5_000, vfs: String? = nil) {
    self.init(path: path, size: size, busyTimeout: busyTimeout, lanes: .threads, vfs: vfs)
  }

  /// - Parameter prepare: what is done with each connection before it is first used.
  package init(
    path: String, size: Int = 4, busyTimeout: Int32 = 5_000, lanes: Lanes, vfs: String?,
    key: CipherKey? = nil, prepare: @escaping @Sendable (SQLiteConnection) throws -> Void = { _ in }
  ) {
    self.prepare = prepare
    self.size = size
    self.key = key
    self.path = path
    self.busyTimeout = busyTimeout
    self.vfs = vfs
    slots = DispatchSemaphore(value: size)
    queues = lanes == .caller ? [] : (0..<size).map { DispatchQueue(label: "skerry.reader.\($0)") }
    loads = Mutex(Array(repeating: 0, count: size))
  }

  /// Gives a closure one snapshot of the file; blocks the calling thread while all connections are in use.
  public func read<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    slots.wait()
    defer { slots.signal() }
    let slot: ConnectionSlot
    let free = try state.withLock { state in
      if state.isSuspended { throw Suspended() }
      return state.idle.popLast()
    }
    if let free {
      slot = free
    } else {
      slot = ConnectionSlot(
        connection: try SQLiteConnection(path: path, mode: .reader, busyTimeout: busyTimeout, vfs: vfs, key: key))
      try prepare(slot.connection)
    }
    let result = Result { try slot.connection.transaction(.deferred) { try body(slot.connection) } }
    // A connection whose transaction could not be ended is closed instead of being handed to the next caller.
    if !slot.connection.isInTransaction { state.withLock { $0.idle.append(slot) } }
    return try result.get()
  }

  /// Gives a closure one snapshot of the file, without blocking the caller's thread.
  public func readAsync<T: Sendable>(_ body: @escaping @Sendable (SQLiteConnection) throws -> T) async throws -> T {
    if queues.isEmpty { return try read(body) }
    let lane = loads.withLock { loads in
      let lane = loads.indices.min { loads[$0] < loads[$1] } ?? 0
      loads[lane] += 1
      return lane
    }
    return try await withCheckedThrowingContinuation { continuation in
      queues[lane].async {
        let result = Result { try self.read(body) }
        self.loads.withLock { $0[lane] -= 1 }
        continuation.resume(with: result)
      }
    }
  }

  /// Closes the connections that are not in use.
  public func closeIdle() { state.withLock { $0.idle.removeAll() } }

  /// Thrown by a read of a pool that is suspended.
  package struct Suspended: Error {}

  /// Closes all connections, once those that are reading are through; reads are refused until `resume`. Blocks that long.
  package func suspend() {
    suspending.wait()
    defer { suspending.signal() }
    state.withLock { $0.isSuspended = true }
    // Nobody reads while all places are taken.
    for _ in 0..<size { slots.wait() }
    closeIdle()
    for _ in 0..<size { slots.signal() }
  }

  /// Reads are welcome again; connections are opened when first needed.
  package func resume() { state.withLock { $0.isSuspended = false } }
}
