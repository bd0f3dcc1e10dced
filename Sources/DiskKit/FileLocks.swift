// SPDX-License-Identifier: Apache-2.0
internal import CSkerrySQLite

/// Who holds a file's locks (https://www.sqlite.org/lockingv3.html): any number of readers, one of them about to write, one
/// waiting for the others to end.
struct FileLocks {
  private var readers = 0
  private var reserved: ObjectIdentifier?
  private var pending: ObjectIdentifier?

  /// Whether somebody is about to write.
  var isReserved: Bool { reserved != nil || pending != nil }

  /// Raises a handle's lock.
  ///
  /// - Parameter level: what it holds, changed to what it holds then; on the way to exclusive it may stop at pending.
  /// - Returns: `SQLITE_OK`, or `SQLITE_BUSY` if another handle is in the way.
  mutating func raise(_ level: inout Int32, to wanted: Int32, for handle: ObjectIdentifier) -> Int32 {
    if level >= wanted { return SQLITE_OK }
    if pending != nil, pending != handle { return SQLITE_BUSY }
    if level == SQLITE_LOCK_NONE {
      readers += 1
      level = SQLITE_LOCK_SHARED
    }
    if wanted == SQLITE_LOCK_RESERVED {
      if reserved != nil { return SQLITE_BUSY }
      reserved = handle
      level = wanted
    } else if wanted >= SQLITE_LOCK_PENDING {
      pending = handle
      level = SQLITE_LOCK_PENDING
      if wanted == SQLITE_LOCK_EXCLUSIVE {
        if readers > 1 { return SQLITE_BUSY }
        level = wanted
      }
    }
    return SQLITE_OK
  }

  /// Lowers a handle's lock to shared or none.
  mutating func lower(_ level: inout Int32, to wanted: Int32, for handle: ObjectIdentifier) {
    guard level > wanted else { return }
    if reserved == handle { reserved = nil }
    if pending == handle { pending = nil }
    if wanted == SQLITE_LOCK_NONE { readers -= 1 }
    level = wanted
  }
}
