// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerrySQLiteKit
import SkerryStore

/// Sleeping, and sharing the file with other processes of the app.
extension Replica {
  /// Closes the file, so that the system may put the app to sleep and another process may have the file for itself.
  ///
  /// When it returns there is no transaction, no lock and no open connection; reads that were under way have ended first. The
  /// WAL is moved into the file, unless another process has it open. Until `resume()`, whoever writes, reads or syncs once gets
  /// `StoreError` with code `suspended`; observers and `SyncEngine.run()` wait. Suspending what is suspended does nothing.
  public func suspend() {
    readers.suspend()
    store.suspend()
  }

  /// Opens the file again. Observers read anew and the engine goes on, with whatever another process has written meanwhile.
  /// Resuming what is not suspended does nothing.
  ///
  /// - Throws: as `open(in:account:schema:files:key:drops:log:)`; `StoreError` with code `otherSchema` if a newer version of the app
  ///   has had the file. The replica stays suspended then.
  public func resume() throws {
    guard store.isSuspended else { return }
    try store.resume()
    // Before observers are told: one that is woken reads at once.
    readers.resume()
    board.publishAll()
    collectQuietly()
    wake()
  }

  /// Whether the file is closed until `resume()`.
  public var isSuspended: Bool { store.isSuspended }

  /// Looks whether another process has written the file or left a drop, and if so tells observers and the engine. Cheap if not.
  ///
  /// For whatever tells processes of each other, such as a Darwin notification; a write notices others by itself. Does nothing
  /// while the replica is suspended.
  ///
  /// - Throws: `StoreError` with code `otherSchema` if a newer version of the app has had the file; an error of the database.
  public func noticeOtherProcesses() throws {
    guard !store.isSuspended else { return }
    if try store.noticeOtherConnections() { changed() }
    collectQuietly()
  }

  /// Calls `noticeOtherProcesses()` again and again until the task is cancelled, where nothing tells processes of each other.
  ///
  /// While another process holds the file's lock, that look is left out.
  ///
  /// - Parameter interval: how late another process's commit is noticed at most.
  /// - Throws: as `noticeOtherProcesses()`.
  public func watchOtherProcesses(every interval: Duration) async throws {
    try await watchOtherProcesses(every: interval, clock: SystemAmbient.clock)
  }

  /// The same, with waits that are measured by a clock of the caller's.
  public func watchOtherProcesses(every interval: Duration, clock: any Clock<Duration>) async throws {
    while !Task.isCancelled {
      do { try noticeOtherProcesses() } catch let error as SQLiteError where error.isRetryable {}
      do { try await clock.sleep(for: interval) } catch is CancellationError { return }
    }
  }

  /// Reads on one of the readers' connections.
  nonisolated func reading<T: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> T
  ) async throws -> T {
    do { return try await readers.readAsync(body) } catch is ReaderPool.Suspended {
      throw StoreError.suspended
    } catch let error as CipherError { throw StoreError(error) }
  }
}
