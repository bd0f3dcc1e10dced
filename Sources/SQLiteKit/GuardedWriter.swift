// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Moves a connection between threads; one thread has it at a time.
// Unchecked: whoever makes a slot hands its connection to one call at a time, under a semaphore or a mutex.
struct ConnectionSlot: @unchecked Sendable { let connection: SQLiteConnection }

/// The one writer of a file, used by one thread at a time; others wait. It is also the file's only checkpointer.
public final class GuardedWriter: Sendable {
  private let slot: ConnectionSlot
  private let turn = DispatchSemaphore(value: 1)

  /// Opens the file, and makes it if it is missing.
  ///
  /// - Parameter vfs: SQLite's name of the file system that the file is on; nil for its default.
  public init(path: String, busyTimeout: Int32 = 5_000, vfs: String? = nil) throws {
    slot = ConnectionSlot(
      connection: try SQLiteConnection(path: path, mode: .writer, busyTimeout: busyTimeout, vfs: vfs))
  }

  /// Gives a closure the connection; blocks the calling thread while another has it.
  public func withConnection<T>(_ body: (SQLiteConnection) throws -> T) rethrows -> T {
    turn.wait()
    defer { turn.signal() }
    return try body(slot.connection)
  }

  /// The same, unless another thread has the connection for longer than so many milliseconds: then nil.
  public func tryConnection<T>(waiting milliseconds: Int32, _ body: (SQLiteConnection) throws -> T) rethrows -> T? {
    guard turn.wait(timeout: .now() + .milliseconds(Int(milliseconds))) == .success else { return nil }
    defer { turn.signal() }
    return try body(slot.connection)
  }
}
