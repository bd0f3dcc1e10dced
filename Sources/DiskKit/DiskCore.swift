// SPDX-License-Identifier: Apache-2.0
internal import CSkerrySQLite
internal import Synchronization

/// What a disk's owner and the handles that SQLite has open share. It lives until the last of them is gone.
// Unchecked: everything that changes is reached within `locked` only; the two closures are set before a file is open.
final class DiskCore: @unchecked Sendable {
  private let lock = Mutex(())
  private(set) var machines: [String: Machine] = [:]
  private var processes: [String: DiskProcess] = [:]
  var random: DiskRandom
  /// For SQLite's own numbers, apart so that neither shifts the other.
  var noise: DiskRandom
  var trace = TraceHash()
  var figures = MemoryDisk.Figures()
  /// Calls and deaths so far.
  private(set) var activity = 0
  let tracesContent: Bool
  /// 2024-01-01, until somebody sets a clock.
  var now: () -> Int64 = { 1_704_067_200_000 }
  var onSleep: (Int32) -> Void = { _ in }
  /// What SQLite knows the disk by; it points back here.
  private(set) var table: VFSTable?

  init(seed: UInt64, tracesContent: Bool) {
    random = DiskRandom(seed: seed)
    noise = DiskRandom(seed: ~seed)
    self.tracesContent = tracesContent
  }

  func makeTable(name: String) -> VFSTable {
    let made = VFSTable(name: name, core: self)
    table = made
    return made
  }

  /// The one way in: for each call of SQLite and of the disk's owner.
  func locked<T: Sendable>(_ body: () throws -> T) rethrows -> T { try lock.withLock { _ in try body() } }

  // MARK: Within `locked`

  func machine(_ name: String) -> Machine {
    if let known = machines[name] { return known }
    let made = Machine(name: name)
    machines[name] = made
    return made
  }

  func process(_ label: String) -> DiskProcess {
    if let known = processes[label] { return known }
    let made = DiskProcess(label: label)
    processes[label] = made
    return made
  }

  func known(_ label: String) -> DiskProcess? { processes[label] }

  /// Who asks for a file, and on which machine.
  private func caller(_ path: DiskPath) -> (DiskProcess, Machine) {
    let (process, machine) = (process(path.process), machine(path.machine))
    machine.welcome(process)
    return (process, machine)
  }

  func kill(_ process: DiskProcess) {
    if process.isDead { return }
    process.die()
    activity += 1
    for machine in machines.values { machine.bury(process) }
    figures.deaths += 1
  }

  func cutPower(of machine: Machine) {
    for process in machine.processes { kill(process) }
    figures.powerLosses += 1
    machine.losePower(&random, &figures)
  }

  func traceEvent(_ kind: MemoryDisk.CallKinds, _ file: UInt64, _ offset: Int = 0, _ count: Int = 0) {
    trace.fold(UInt64(kind.rawValue) ^ file)
    trace.fold(offset)
    trace.fold(count)
  }

  // MARK: Calls without a handle

  /// How a call goes on.
  enum Entry {
    case proceeds
    case fails(Int32)
    case dies
    case losesPower
    /// It comes from a process that is gone.
    case isDead
  }

  func enter(_ kind: MemoryDisk.CallKinds, _ process: DiskProcess, _ file: String) -> Entry {
    if process.isDead { return .isDead }
    activity += 1
    switch process.count(kind, file) {
    case nil: return .proceeds
    case .error(let code, _):
      figures.errors[code, default: 0] += 1
      return .fails(code)
    case .death:
      kill(process)
      return .dies
    case .powerLoss: return .losesPower
    }
  }

  /// Does something unless the call meets a fault; with a power loss, the machine dies right after.
  func run(_ entry: Entry, on machine: Machine, _ body: () -> Int32) -> Int32 {
    switch entry {
    case .proceeds: return body()
    case .fails(let code): return code
    case .dies, .isDead: return SQLITE_IOERR
    case .losesPower:
      _ = body()
      cutPower(of: machine)
      return SQLITE_IOERR
    }
  }

  func delete(_ path: DiskPath, syncsDirectory: Bool) -> Int32 {
    let (process, machine) = caller(path)
    let entry = enter(.deletes, process, path.file)
    return run(entry, on: machine) {
      guard machine.delete(path.file) else { return IOError.noSuchFile }
      traceEvent(.deletes, TraceHash.of(path))
      if syncsDirectory, case .proceeds = entry { machine.syncDirectory() }
      return SQLITE_OK
    }
  }

  /// An empty file counts as none, as in SQLite's own disk.
  func look(_ path: DiskPath, _ isThere: inout Bool) -> Int32 {
    let (process, machine) = caller(path)
    return run(enter(.looks, process, path.file), on: machine) {
      isThere = (machine.files[path.file]?.size ?? 0) > 0
      return SQLITE_OK
    }
  }

  func open(_ path: DiskPath, _ flags: Int32) -> (code: Int32, handle: DiskHandle?) {
    let (process, machine) = caller(path)
    var handle: DiskHandle?
    let code = run(enter(.opens, process, path.file), on: machine) {
      guard let content = machine.files[path.file] ?? (flags & SQLITE_OPEN_CREATE != 0 ? machine.make(path.file) : nil)
      else { return SQLITE_CANTOPEN }
      traceEvent(.opens, TraceHash.of(path))
      let made = DiskHandle(
        self, content, DiskHandle.Place(process: process, machine: machine, path: path), flags: flags)
      process.add(made)
      handle = made
      return SQLITE_OK
    }
    return (code, code == SQLITE_OK ? handle : nil)
  }
}

extension TraceHash {
  static func of(_ path: DiskPath) -> UInt64 {
    var hash = TraceHash()
    for part in [path.process, path.machine, path.file] {
      for byte in part.utf8 { hash.fold(UInt64(byte)) }
      hash.fold(UInt64(256))
    }
    return hash.value
  }
}
