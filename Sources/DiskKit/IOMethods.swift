// SPDX-License-Identifier: Apache-2.0
internal import CSkerrySQLite
internal import Synchronization

/// The methods of an open file, as SQLite calls them: each finds its handle behind SQLite's own part of the file object.
extension sqlite3_io_methods {
  /// Where the handle's address is, and how long a file object is with it.
  static let handleOffset = MemoryLayout<sqlite3_file>.stride
  static let fileSize = handleOffset + MemoryLayout<UnsafeRawPointer>.size

  typealias File = UnsafeMutablePointer<sqlite3_file>

  static func makeForDisk() -> sqlite3_io_methods {
    var methods = sqlite3_io_methods()
    methods.iVersion = 3
    methods.setContent()
    methods.setLocks()
    methods.setSharedMemory()
    methods.xFileControl = { file, _, _ in
      // A dead connection is to fail at its pragmas too.
      sqlite3_io_methods.call(file) { $0.isDead ? SQLITE_IOERR : SQLITE_NOTFOUND }
    }
    methods.xSectorSize = { _ in 512 }
    methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
    return methods
  }

  private mutating func setContent() {
    xClose = { file in
      let code = sqlite3_io_methods.call(file) { handle in
        handle.close()
        return SQLITE_OK
      }
      sqlite3_io_methods.pointer(file).map { Unmanaged<DiskHandle>.fromOpaque($0).release() }
      file?.pointee.pMethods = nil
      return code
    }
    xRead = { file, target, count, offset in
      guard let target else { return SQLITE_MISUSE }
      return sqlite3_io_methods.call(file) { $0.read(into: target, Int(count), at: Int(offset)) }
    }
    xWrite = { file, source, count, offset in
      guard let source else { return SQLITE_MISUSE }
      return sqlite3_io_methods.call(file) { $0.write(source, Int(count), at: Int(offset)) }
    }
    xTruncate = { file, size in sqlite3_io_methods.call(file) { $0.truncate(to: Int(size)) } }
    xSync = { file, _ in sqlite3_io_methods.call(file) { $0.sync() } }
    xFileSize = { file, size in
      var found: Int64 = 0
      let code = sqlite3_io_methods.call(file) { $0.size(&found) }
      size?.pointee = found
      return code
    }
    // No file is mapped into memory, so that no read passes the disk by.
    xFetch = { _, _, _, start in
      start?.pointee = nil
      return SQLITE_OK
    }
    xUnfetch = { _, _, _ in SQLITE_OK }
  }

  private mutating func setLocks() {
    xLock = { file, level in sqlite3_io_methods.call(file) { $0.lock(level) } }
    xUnlock = { file, level in sqlite3_io_methods.call(file) { $0.unlock(level) } }
    xCheckReservedLock = { file, result in
      var isReserved = false
      let code = sqlite3_io_methods.call(file) { $0.lookAtLock(&isReserved) }
      result?.pointee = isReserved ? 1 : 0
      return code
    }
  }

  private mutating func setSharedMemory() {
    xShmMap = { file, region, size, isMade, result in
      var start: UnsafeMutableRawPointer?
      let code = sqlite3_io_methods.call(file) { $0.map(Int(region), size: Int(size), isMade: isMade != 0, &start) }
      result?.pointee = UnsafeMutableRawPointer(mutating: start)
      return code
    }
    xShmLock = { file, offset, count, flags in
      let slots = Int(offset)..<Int(offset + count)
      return sqlite3_io_methods.call(file) { handle in
        if flags & SQLITE_SHM_UNLOCK != 0 { return handle.unlockShared(slots) }
        return handle.lockShared(slots, isExclusive: flags & SQLITE_SHM_EXCLUSIVE != 0)
      }
    }
    xShmBarrier = { _ in atomicMemoryFence(ordering: .sequentiallyConsistent) }
    xShmUnmap = { file, _ in sqlite3_io_methods.call(file) { $0.unmap() } }
  }

  private static func pointer(_ file: File?) -> UnsafeRawPointer? {
    file.flatMap { UnsafeRawPointer($0).load(fromByteOffset: handleOffset, as: UnsafeRawPointer?.self) }
  }

  private static func call(_ file: File?, _ body: (DiskHandle) -> Int32) -> Int32 {
    guard let pointer = pointer(file) else { return SQLITE_MISUSE }
    let handle = Unmanaged<DiskHandle>.fromOpaque(pointer).takeUnretainedValue()
    return handle.core.locked { body(handle) }
  }
}
