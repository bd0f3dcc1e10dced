// SPDX-License-Identifier: Apache-2.0
import SkerrySQLiteKit

/// Stands before each call of one connection that may reach its file: counts it, and lets it live, fail or die.
final class Watch {
  enum Fate: Hashable, Sendable {
    case lives
    /// At this call the process is gone: the call and all later ones throw, and none of them reaches SQLite.
    case dies(at: Int)
    /// This call alone fails, and the process lives on.
    case fails(at: Int, Fault)
  }

  /// What a disk or another process does to a call.
  enum Fault: Int32, Hashable, Sendable, CaseIterable {
    case full = 13
    /// SQLITE_IOERR_WRITE.
    case inputOutput = 778
    case busy = 5
  }

  private let fate: Fate
  private(set) var calls = 0
  private(set) var isDead = false
  /// What the call that failed was about to do.
  private(set) var failed: String?
  /// Whether a transaction was open at the call that failed or died.
  private(set) var wasInTransaction = false
  var isActive = true
  /// Told when the process dies, before anything of it ends.
  var onDeath: (() -> Void)?

  /// Told before each transaction that may write.
  var onTransaction: (() throws -> Void)?

  init(_ fate: Fate) { self.fate = fate }

  func attach(to connection: SQLiteConnection) {
    connection.monitor = { [self, unowned connection] sql in try take(sql, connection) }
  }

  private func take(_ sql: String, _ connection: SQLiteConnection) throws {
    if isDead { throw Death() }
    guard isActive else { return }
    // Clearing the WAL of others' values comes after the commit and is tried again with the next page: its error is no one's.
    if case .fails = fate, sql.hasPrefix("PRAGMA wal_checkpoint") { return }
    calls += 1
    if sql == "BEGIN IMMEDIATE" { try onTransaction?() }
    switch fate {
    case .lives: break
    case .dies(at: calls):
      isDead = true
      wasInTransaction = connection.isInTransaction
      onDeath?()
      throw Death()
    case .fails(at: calls, let fault):
      failed = sql
      wasInTransaction = connection.isInTransaction
      throw SQLiteError(extendedCode: fault.rawValue, message: "planted", sql: sql)
    case .dies, .fails: break
    }
  }
}

/// The process is gone; nobody is left to catch this.
struct Death: Error {}
