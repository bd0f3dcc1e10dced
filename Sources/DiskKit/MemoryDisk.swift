// SPDX-License-Identifier: Apache-2.0
internal import CSkerrySQLite
internal import Synchronization

/// A disk in memory under SQLite: machines with files, processes with open files, and everything that goes wrong with them.
///
/// It is a SQLite VFS (https://www.sqlite.org/vfs.html) under a name of its own. Programs give `vfsName` and `path(…)` to
/// SQLite and know nothing of it. Any number of disks live side by side; each has one lock. What it loses is drawn from its
/// own seed, so the same calls lose the same.
///
/// A machine has one directory and no limit but `setFreeBytes`. The index of a WAL is memory that the processes of a machine
/// share, and is no file. Files without a name belong to no process, and meet no fault.
package final class MemoryDisk: Sendable {
  private static let count = Atomic<Int>(0)
  /// SQLite counts its memory under one lock of the process: measured with two threads on disks of their own, that was nearly
  /// half of the time of both. It is left out, unless SQLite has begun already.
  private static let isWithoutStatistics = skerry_no_memory_statistics() == SQLITE_OK

  /// What SQLite calls this disk.
  package let vfsName: String
  let core: DiskCore

  /// Registers a disk with SQLite.
  ///
  /// - Parameters:
  ///   - isDefault: whether SQLite uses it where no other is named, for its random numbers too. Only for a process in which
  ///     nobody else uses SQLite.
  ///   - tracesContent: whether `traceHash` depends on the bytes written, or only on where and how many.
  package init(seed: UInt64 = 0, isDefault: Bool = false, tracesContent: Bool = true) {
    _ = MemoryDisk.isWithoutStatistics
    vfsName = "skerry-disk-\(MemoryDisk.count.add(1, ordering: .relaxed).newValue)"
    core = DiskCore(seed: seed, tracesContent: tracesContent)
    core.makeTable(name: vfsName).register(isDefault: isDefault)
    if isDefault { MemoryDisk.resetRandomness() }
  }

  deinit { close() }

  /// Takes the disk's name from SQLite: nothing more can be opened. What is open goes on.
  package func close() { core.table?.unregister() }

  /// Lets SQLite ask its default disk for a new seed of its random numbers, which are one sequence for the whole process.
  package static func resetRandomness() { sqlite3_randomness(0, nil) }

  /// The path by which a process opens a file of a machine.
  ///
  /// - Parameters:
  ///   - process: any text without `:` and `/`; a process that has died needs a new one.
  ///   - machine: any text without `/`.
  package static func path(process: String, machine: String, file: String) -> String {
    "\(process):\(machine)/\(file)"
  }

  /// What the programs' clock says: milliseconds since 1970. To be set before a file is open.
  package var now: () -> Int64 {
    get { core.now }
    set { core.now = newValue }
  }

  /// Told how many microseconds SQLite would wait for a lock; nobody waits. To be set before a file is open.
  package var onSleep: (Int32) -> Void {
    get { core.onSleep }
    set { core.onSleep = newValue }
  }

  /// Every open, write, truncation, sync and deletion so far, in order: the same run, the same number.
  package var traceHash: UInt64 { core.locked { core.trace.value } }

  /// What has happened so far.
  package var figures: Figures { core.locked { core.figures } }
}
