// SPDX-License-Identifier: Apache-2.0
internal import CSkerrySQLite

/// One open file of one connection. Its methods are SQLite's (https://www.sqlite.org/c3ref/io_methods.html), called within
/// `locked`.
final class DiskHandle {
  /// Whose handle it is, and of which file; files without a name have none.
  struct Place {
    let process: DiskProcess
    let machine: Machine
    let path: DiskPath
    let trace: UInt64

    init(process: DiskProcess, machine: Machine, path: DiskPath) {
      self.process = process
      self.machine = machine
      self.path = path
      trace = TraceHash.of(path)
    }
  }

  let core: DiskCore
  let content: FileContent
  let place: Place?
  private let isDeletedOnClose: Bool
  /// SQLite's own disk syncs the directory with the first sync of a new journal or WAL.
  private var syncsDirectory: Bool
  private var level = SQLITE_LOCK_NONE
  private var memory: SharedMemory?
  private var holding = SharedMemory.Holding()

  init(_ core: DiskCore, _ content: FileContent, _ place: Place?, flags: Int32) {
    self.core = core
    self.content = content
    self.place = place
    isDeletedOnClose = flags & SQLITE_OPEN_DELETEONCLOSE != 0
    let journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL
    syncsDirectory = flags & SQLITE_OPEN_CREATE != 0 && flags & journals != 0
  }

  var isDead: Bool { place?.process.isDead ?? false }

  private func enter(_ kind: MemoryDisk.CallKinds) -> DiskCore.Entry {
    guard let place else { return .proceeds }
    return core.enter(kind, place.process, place.path.file)
  }

  private func run(_ kind: MemoryDisk.CallKinds, _ body: () -> Int32) -> Int32 {
    guard let place else { return body() }
    return core.run(core.enter(kind, place.process, place.path.file), on: place.machine, body)
  }

  // MARK: Content

  func read(into target: UnsafeMutableRawPointer, _ count: Int, at offset: Int) -> Int32 {
    run(.reads) {
      core.figures.reads += 1
      let found = max(0, min(count, content.size - offset))
      if found > 0 { target.copyMemory(from: content.bytes.start + offset, byteCount: found) }
      if found == count { return SQLITE_OK }
      (target + found).initializeMemory(as: UInt8.self, repeating: 0, count: count - found)
      return IOError.shortRead
    }
  }

  func write(_ source: UnsafeRawPointer, _ count: Int, at offset: Int) -> Int32 {
    switch enter(.writes) {
    case .proceeds: return put(source, count, at: offset)
    case .isDead: return SQLITE_IOERR
    case .fails(let code):
      _ = put(source, part(of: count), at: offset)
      return code
    case .dies:
      _ = put(source, part(of: count), at: offset)
      return SQLITE_IOERR
    case .losesPower:
      _ = put(source, count, at: offset)
      return losePower()
    }
  }

  /// How much of a write is done that fails: nothing, some sectors, or all.
  private func part(of count: Int) -> Int {
    switch core.random.below(3) {
    case 0: 0
    case 1: core.random.below(count / 512 + 1) * 512
    default: count
    }
  }

  private func put(_ source: UnsafeRawPointer, _ count: Int, at offset: Int) -> Int32 {
    let growth = max(0, offset + count - content.size)
    let room = place?.machine.take(growth) ?? growth
    let done = max(0, count - (growth - room))
    if done > 0 { content.write(source, done, at: offset) }
    core.figures.writes += 1
    core.figures.bytesWritten += done
    if let place {
      core.traceEvent(.writes, place.trace, offset, done)
      if core.tracesContent { core.trace.fold(UnsafeRawBufferPointer(start: source, count: done)) }
    }
    if room == growth { return SQLITE_OK }
    core.figures.fullWrites += 1
    place?.process.noteFailure()
    return SQLITE_FULL
  }

  private func losePower() -> Int32 {
    if let place { core.cutPower(of: place.machine) }
    return SQLITE_IOERR
  }

  func truncate(to size: Int) -> Int32 {
    run(.truncations) {
      if let place { core.traceEvent(.truncations, place.trace, size) }
      place?.machine.release(content.size - size)
      content.truncate(to: size)
      return SQLITE_OK
    }
  }

  func sync() -> Int32 {
    switch enter(.syncs) {
    case .proceeds: break
    case .fails(let code):
      content.failSync()
      return code
    case .losesPower: return losePower()
    case .dies, .isDead: return SQLITE_IOERR
    }
    core.figures.syncs += 1
    content.sync()
    guard let place else { return SQLITE_OK }
    core.traceEvent(.syncs, place.trace)
    if syncsDirectory {
      syncsDirectory = false
      place.machine.syncDirectory()
    }
    return SQLITE_OK
  }

  func size(_ size: inout Int64) -> Int32 {
    run(.sizes) {
      size = Int64(content.size)
      return SQLITE_OK
    }
  }

  // MARK: Locks

  func lock(_ wanted: Int32) -> Int32 {
    run(.locks) { content.locks.raise(&level, to: wanted, for: ObjectIdentifier(self)) }
  }

  func unlock(_ wanted: Int32) -> Int32 {
    if !isDead { content.locks.lower(&level, to: wanted, for: ObjectIdentifier(self)) }
    return SQLITE_OK
  }

  func lookAtLock(_ isReserved: inout Bool) -> Int32 {
    run(.lockLooks) {
      isReserved = content.locks.isReserved
      return SQLITE_OK
    }
  }

  // MARK: Shared memory

  func map(_ region: Int, size: Int, isMade: Bool, _ start: inout UnsafeMutableRawPointer?) -> Int32 {
    start = nil
    return run(.maps) {
      let shared = memory ?? joinMemory()
      start = shared.region(region, size: size, isMade: isMade)
      return SQLITE_OK
    }
  }

  private func joinMemory() -> SharedMemory {
    let shared = content.sharedMemory ?? SharedMemory()
    shared.users += 1
    content.sharedMemory = shared
    memory = shared
    return shared
  }

  func lockShared(_ slots: Range<Int>, isExclusive: Bool) -> Int32 {
    run(.sharedLocks) { memory?.lock(slots, isExclusive: isExclusive, &holding) ?? SQLITE_MISUSE }
  }

  func unlockShared(_ slots: Range<Int>) -> Int32 {
    if !isDead { memory?.unlock(slots, &holding) }
    return SQLITE_OK
  }

  func unmap() -> Int32 {
    if !isDead { leaveMemory() }
    memory = nil
    return SQLITE_OK
  }

  private func leaveMemory() {
    guard let memory else { return }
    memory.unlock(&holding)
    memory.users -= 1
    if memory.users == 0, content.sharedMemory === memory { content.sharedMemory = nil }
  }

  // MARK: End

  /// The process is gone: nothing is held any more. The memory is kept until the dead connection has been closed too.
  func release() {
    content.locks.lower(&level, to: SQLITE_LOCK_NONE, for: ObjectIdentifier(self))
    leaveMemory()
  }

  func close() {
    guard !isDead else { return }
    release()
    memory = nil
    guard let place else { return }
    place.process.remove(self)
    if isDeletedOnClose { _ = place.machine.delete(place.path.file) }
  }
}
