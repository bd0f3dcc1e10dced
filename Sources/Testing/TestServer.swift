// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
public import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables
import Synchronization

/// The server of a world: the real one, on a SQLite file on a disk in memory, asked without HTTP and without tokens.
///
/// `execute` is another program with the server's file open: what it changes is captured by the triggers that a real server
/// has, and reaches the devices at their next round.
public final class TestServer: Sendable {
  private let server: Mutex<WorldServer>

  init(_ server: sending WorldServer) { self.server = Mutex(server) }

  /// Runs SQL as another program would, in one transaction.
  ///
  /// - Parameters:
  ///   - sql: one statement, or several with a semicolon between them.
  ///   - values: what stands for its question marks; only for a single statement.
  /// - Throws: an error of the database, such as one of a constraint; nothing was changed then.
  public func execute(_ sql: String, _ values: [Value] = []) throws {
    try server.withLock { server in
      try server.foreign.transaction(.immediate) {
        if values.isEmpty { return try server.foreign.execute(sql) }
        _ = try server.foreign.statement(sql).run(values.map(\.sqlite))
      }
    }
  }

  /// The rows of a SELECT on the server's file.
  ///
  /// - Throws: an error of the database.
  public func query(_ sql: String, _ values: [Value] = []) throws -> [[Value]] {
    try server.withLock { server in
      try server.foreign.statement(sql).query(values.map(\.sqlite)) { $0.modelValues(0..<$0.count) }
    }
  }

  /// The server's process dies, as with `kill -9`, and is started again on the same file.
  ///
  /// - Throws: an error of the database.
  public func restart() throws { try server.withLock { try $0.restart() } }

  /// The server's machine loses power and comes back: what was not synced to its disk may be gone or torn.
  ///
  /// - Throws: an error of the database.
  public func losePower() throws { try server.withLock { try $0.losePower() } }

  /// The server forgets all deletions so far, as it does with old ones: a device that has not heard of them refills.
  ///
  /// - Throws: an error of the database.
  public func forgetDeletions() throws {
    try server.withLock { server in
      try server.core.sequence()
      try server.core.expire(upTo: server.core.history().head)
    }
  }

  func serve(_ request: TransportRequest, as account: AccountID) -> TransportResponse {
    server.withLock { $0.serve(request, as: account) }
  }

  func withServer<T: Sendable>(_ body: (WorldServer) throws -> T) rethrows -> T {
    try server.withLock { try body($0) }
  }
}
