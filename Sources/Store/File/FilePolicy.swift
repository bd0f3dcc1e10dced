// SPDX-License-Identifier: Apache-2.0

import SkerryFileKit

#if canImport(Darwin)
  import Foundation
#endif

/// Who may read a store's files, and whether they go into backups: the database and what SQLite keeps beside it (`-wal`, `-shm`).
///
/// SQLite makes the files beside the database anew whenever a store is opened, so the policy is applied at each opening, and
/// again after `resume()`. That is before anything is written into them.
public struct FilePolicy: Sendable {
  /// When the system lets the files be read. On other systems than Apple's it says nothing.
  public enum Protection: Sendable, Hashable {
    /// Not before the device was unlocked once since it was started. Syncing in the background needs this or less.
    case completeUntilFirstUserAuthentication
    /// Not while the device is locked, except what is open already. A store must be suspended before the lock falls.
    case completeUnlessOpen
    /// Not while the device is locked. A store that is used then gets errors of the disk.
    case complete
    /// Always.
    case none
  }

  /// When the system lets the files be read.
  public var protection = Protection.completeUntilFirstUserAuthentication
  /// Whether the files go into the device's backup. A store that comes back from one finds its server again, and what waited
  /// is offered again under its own ids; but each day's backup carries all that the server has anyway.
  public var isBackedUp = false
  /// Who may read and write the files, as `chmod` has it; the owner alone, unless you say otherwise.
  public var mode: UInt16 = 0o600
  /// Called with the path of each file of the store when it is there, for what the app wants beyond this. What it throws is
  /// thrown by whoever opens the store.
  public var onFile: @Sendable (_ path: String) throws -> Void

  /// The owner alone, not backed up, protected until the device is first unlocked.
  public init(onFile: @escaping @Sendable (_ path: String) throws -> Void = { _ in }) { self.onFile = onFile }

  /// Makes the database's file if there is none, with the policy in force before anything is in it.
  func prepare(_ path: String) throws {
    if !FileSystem.system.exists(path) { try FileSystem.system.create(path, mode: mode) }
    try apply(to: path)
  }

  /// Brings a file to the policy, if it is there.
  func apply(to path: String) throws {
    guard let found = FileSystem.system.mode(of: path) else { return }
    if found != mode { try FileSystem.system.setMode(mode, of: path) }
    #if canImport(Darwin)
      try applyAttributes(to: path)
    #endif
    try onFile(path)
  }

  /// What SQLite keeps beside a database.
  static let companions = ["-wal", "-shm"]

  #if canImport(Darwin)
    private func applyAttributes(to path: String) throws {
      var url = URL(fileURLWithPath: path)
      var values = URLResourceValues()
      values.isExcludedFromBackup = !isBackedUp
      try url.setResourceValues(values)
      #if !os(macOS)
        let type: FileProtectionType =
          switch protection {
          case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
          case .completeUnlessOpen: .completeUnlessOpen
          case .complete: .complete
          case .none: .none
          }
        try FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: path)
      #endif
    }
  #endif
}
