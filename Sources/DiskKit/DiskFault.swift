// SPDX-License-Identifier: Apache-2.0
internal import CSkerrySQLite

extension MemoryDisk {
  /// What a call on a disk may meet.
  package enum DiskFault: Hashable, Sendable {
    /// The call fails with an extended result code (https://www.sqlite.org/rescode.html); if lasting, so do all later ones for
    /// which the code is plausible. A write may have been done in part; after a failed sync no later one can be relied on.
    case error(Int32, isLasting: Bool)
    /// The process dies at the call, of which nothing is done, or a part if it is a write.
    case death
    /// The machine loses power at the call, which is treated like all that was not synced.
    case powerLoss
  }

  /// A counted call: what it was, and on which file.
  package struct Call: Hashable, Sendable, CustomStringConvertible {
    package let kind: CallKinds
    package let file: String
    package var description: String { "\(kind) of \(file)" }
  }

  /// Kinds of calls that are counted and can fail. Those that give something back, like closing and unlocking, cannot.
  package struct CallKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let opens = CallKinds(rawValue: 1)
    package static let deletes = CallKinds(rawValue: 2)
    /// Whether a file is there.
    package static let looks = CallKinds(rawValue: 4)
    package static let reads = CallKinds(rawValue: 8)
    package static let writes = CallKinds(rawValue: 16)
    package static let truncations = CallKinds(rawValue: 32)
    package static let syncs = CallKinds(rawValue: 64)
    package static let sizes = CallKinds(rawValue: 128)
    package static let locks = CallKinds(rawValue: 256)
    /// Whether somebody is about to write.
    package static let lockLooks = CallKinds(rawValue: 512)
    /// Regions of shared memory.
    package static let maps = CallKinds(rawValue: 1_024)
    /// Locks of shared memory.
    package static let sharedLocks = CallKinds(rawValue: 2_048)
    package static let anyCall = CallKinds(rawValue: 4_095)
    static let number = 12
    /// Those that change files, or make a change durable.
    package static let changes: CallKinds = [.opens, .deletes, .writes, .truncations, .syncs]

    /// The calls for which a code is plausible.
    package static func plausible(for code: Int32) -> CallKinds {
      if let kinds = ioErrors[code >> 8], code & 0xFF == SQLITE_IOERR { return kinds }
      return switch code & 0xFF {
      case SQLITE_FULL, SQLITE_READONLY: .writes
      case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .opens
      case SQLITE_BUSY, SQLITE_LOCKED: [.locks, .sharedLocks]
      default: .anyCall
      }
    }

    /// By the second byte of `SQLITE_IOERR_…`, whose macros are compound and do not arrive in Swift.
    private static let ioErrors: [Int32: CallKinds] = [
      1: .reads, 3: .writes, 4: .syncs, 5: [.syncs, .deletes], 6: .truncations, 7: .sizes, 9: .locks, 10: .deletes,
      13: .looks, 14: .lockLooks, 15: .locks, 18: .maps, 19: .maps, 20: .sharedLocks, 21: .maps,
    ]
  }
}

extension MemoryDisk.CallKinds: CustomStringConvertible {
  private static let names = [
    "open", "delete", "look", "read", "write", "truncation", "sync", "size", "lock", "look at a lock", "map",
    "shared lock",
  ]

  package var description: String {
    MemoryDisk.CallKinds.names.enumerated().filter { rawValue >> UInt16($0.offset) & 1 == 1 }.map(\.element)
      .joined(separator: ", ")
  }
}

/// `SQLITE_IOERR_…`, whose macros are compound and do not arrive in Swift.
enum IOError {
  static let shortRead = SQLITE_IOERR | 2 << 8
  static let noSuchFile = SQLITE_IOERR | 23 << 8
}
