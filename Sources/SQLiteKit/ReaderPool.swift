// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// A few read-only connections to a file, beside the one writer that another part owns. Safe to use from any thread.
///
/// A call that finds all connections in use waits for one. `readAsync` waits and reads on threads of its own, never on
/// the cooperative pool.
public final class ReaderPool: Sendable {
  private let path: String
  private let busyTimeout: Int32
  private let slots: DispatchSemaphore
  private let idle = Mutex<[ConnectionSlot]>([])
  private let queue: DispatchQueue

  /// Connections are opened when first needed.
  public init(path: String, size: Int = 4, busyTimeout: Int32 = 5_000) {
    self.path = path
    self.busyTimeout = busyTimeout
    slots = DispatchSemaphore(value: size)
    queue = DispatchQueue(label: "skerry.readers", attributes: .concurrent)
  }

  /// Gives a closure one snapshot of the file; blocks the calling thread while all connections are in use.
  public func read<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    slots.wait()
    defer { slots.signal() }
    let slot: ConnectionSlot
    if let free = idle.withLock({ $0.popLast() }) {
      slot = free
    } else {
      slot = ConnectionSlot(connection: try SQLiteConnection(path: path, mode: .reader, busyTimeout: busyTimeout))
    }
    let result = Result { try slot.connection.transaction(.deferred) { try body(slot.connection) } }
    // A connection whose transaction could not be ended is closed instead of being handed to the next caller.
    if !slot.connection.isInTransaction { idle.withLock { $0.append(slot) } }
    return try result.get()
  }

  /// Gives a closure one snapshot of the file, without blocking the caller's thread.
  public func readAsync<T: Sendable>(_ body: @escaping @Sendable (SQLiteConnection) throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.read(body) }) }
    }
  }

  /// Closes the connections that are not in use.
  public func closeIdle() { idle.withLock { $0.removeAll() } }
}
