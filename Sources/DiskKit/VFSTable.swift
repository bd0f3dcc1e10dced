// SPDX-License-Identifier: Apache-2.0
internal import CSkerrySQLite

/// What SQLite is given of a disk: a `sqlite3_vfs` and the methods of its files, at addresses that stay.
///
/// The core owns it and it points back without owning, so it lives as long as any file of the disk is open.
final class VFSTable {
  private let name: UnsafeMutablePointer<CChar>
  private let vfs: UnsafeMutablePointer<sqlite3_vfs>
  private let methods: UnsafeMutablePointer<sqlite3_io_methods>

  typealias VFS = UnsafeMutablePointer<sqlite3_vfs>

  init(name text: String, core: DiskCore) {
    let bytes = text.utf8CString
    name = .allocate(capacity: bytes.count)
    name.initialize(from: Array(bytes), count: bytes.count)
    methods = .allocate(capacity: 1)
    methods.initialize(to: .makeForDisk())
    vfs = .allocate(capacity: 1)
    vfs.initialize(to: sqlite3_vfs())
    vfs.pointee.iVersion = 2
    vfs.pointee.szOsFile = Int32(sqlite3_io_methods.fileSize)
    vfs.pointee.mxPathname = 512
    vfs.pointee.zName = UnsafePointer(name)
    vfs.pointee.pAppData = Unmanaged.passUnretained(core).toOpaque()
    setFiles()
    setSystem()
  }

  deinit {
    vfs.deallocate()
    methods.deallocate()
    name.deallocate()
  }

  func register(isDefault: Bool) { sqlite3_vfs_register(vfs, isDefault ? 1 : 0) }
  func unregister() { sqlite3_vfs_unregister(vfs) }

  private static func core(_ vfs: VFS?) -> DiskCore? {
    vfs?.pointee.pAppData.map { Unmanaged<DiskCore>.fromOpaque($0).takeUnretainedValue() }
  }

  private func setFiles() {
    vfs.pointee.xOpen = { vfs, name, file, flags, outFlags in
      guard let file, let core = VFSTable.core(vfs) else { return SQLITE_MISUSE }
      return VFSTable.open(core, name, file, flags, outFlags)
    }
    vfs.pointee.xDelete = { vfs, name, syncsDirectory in
      guard let name, let core = VFSTable.core(vfs) else { return SQLITE_MISUSE }
      let path = DiskPath(String(cString: name))
      return core.locked { core.delete(path, syncsDirectory: syncsDirectory != 0) }
    }
    vfs.pointee.xAccess = { vfs, name, _, result in
      guard let name, let core = VFSTable.core(vfs) else { return SQLITE_MISUSE }
      let path = DiskPath(String(cString: name))
      var isThere = false
      let code = core.locked { core.look(path, &isThere) }
      result?.pointee = isThere ? 1 : 0
      return code
    }
    vfs.pointee.xFullPathname = { _, name, room, target in
      guard let name, let target else { return SQLITE_MISUSE }
      var index = 0
      while index < Int(room) {
        target[index] = name[index]
        if name[index] == 0 { return SQLITE_OK }
        index += 1
      }
      return SQLITE_CANTOPEN
    }
  }

  private static func open(
    _ core: DiskCore, _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    file.pointee.pMethods = nil  // SQLite closes a file that failed to open only if it has methods
    let path = name.map { DiskPath(String(cString: $0)) }
    var pointer: UnsafeMutableRawPointer?
    let code = core.locked {
      let opened =
        path.map { core.open($0, flags) }
        ?? (SQLITE_OK, DiskHandle(core, FileContent(isTemporary: true), nil, flags: flags))
      pointer = opened.handle.map { Unmanaged.passRetained($0).toOpaque() }
      return opened.code
    }
    guard let pointer, let table = core.table else { return code }
    UnsafeMutableRawPointer(file).storeBytes(
      of: pointer, toByteOffset: sqlite3_io_methods.handleOffset, as: UnsafeMutableRawPointer.self)
    file.pointee.pMethods = UnsafePointer(table.methods)
    outFlags?.pointee = flags
    return code
  }

  private func setSystem() {
    vfs.pointee.xRandomness = { vfs, count, target in
      guard let target, let core = VFSTable.core(vfs) else { return 0 }
      core.locked { core.noise.fill(UnsafeMutableRawBufferPointer(start: target, count: Int(count))) }
      return count
    }
    vfs.pointee.xSleep = { vfs, microseconds in
      VFSTable.core(vfs)?.onSleep(microseconds)
      return microseconds
    }
    vfs.pointee.xCurrentTimeInt64 = { vfs, time in
      time?.pointee = VFSTable.julian(vfs)
      return SQLITE_OK
    }
    vfs.pointee.xCurrentTime = { vfs, time in
      time?.pointee = Double(VFSTable.julian(vfs)) / 86_400_000
      return SQLITE_OK
    }
    vfs.pointee.xGetLastError = { _, _, _ in 0 }
  }

  /// Milliseconds since noon of the day on which SQLite's calendar begins.
  private static func julian(_ vfs: VFS?) -> Int64 { (core(vfs)?.now() ?? 0) + 210_866_760_000_000 }
}
