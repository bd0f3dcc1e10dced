// SPDX-License-Identifier: Apache-2.0

extension MemoryDisk {
  /// A process dies. Each call on what it has open fails with `SQLITE_IOERR` from now on and changes nothing, and its locks
  /// and its share in shared memory are gone; the label can open nothing more. What was written stays.
  ///
  /// The dead connections may be closed at any time. One that is within a transaction must not outlive the next commit of
  /// another process on the same file, since SQLite takes its traces out of memory that both have seen.
  package func kill(process: String) {
    core.locked { core.kill(core.process(process)) }
  }

  /// A machine loses power: its processes die, and each write and truncation since the last sync of its file, and each file
  /// made or deleted since the last sync of the directory, is kept or dropped, in any subset and any order, and a write may be
  /// torn at 512 bytes.
  package func cutPower(of machine: String) { core.locked { core.cutPower(of: core.machine(machine)) } }

  /// Plans what a process meets at one of its calls, in place of what was planned before.
  ///
  /// - Parameters:
  ///   - number: 1 is the next call that counts.
  ///   - kinds: which calls count; of these, for an error, only the ones for which its code is plausible.
  package func plan(_ fault: DiskFault, for process: String, atCall number: Int, counting kinds: CallKinds = .anyCall) {
    var kinds = kinds
    if case .error(let code, _) = fault { kinds.formIntersection(.plausible(for: code)) }
    core.locked {
      let process = core.process(process)
      process.forgetFault()
      process.plan = DiskProcess.Plan(fault: fault, kinds: kinds, remaining: number)
    }
  }

  /// Nothing is planned for a process any more; a lasting error ends.
  package func clearPlan(for process: String) { core.locked { core.known(process)?.plan = nil } }

  /// The call that met the fault that was planned last; nil while none has.
  package func faultMet(by process: String) -> Call? { core.locked { core.known(process)?.lastFault } }

  /// How many calls of some kinds a process has made so far.
  package func calls(of process: String, counting kinds: CallKinds = .anyCall) -> Int {
    core.locked { core.known(process)?.calls(kinds) ?? 0 }
  }

  /// How many calls of a process met a fault, or found no room.
  package func failures(of process: String) -> Int { core.locked { core.known(process)?.failures ?? 0 } }

  /// Counts the calls of all processes, and their deaths: if it is as it was, nothing has happened on the disk.
  package var activity: Int { core.locked { core.activity } }

  /// Whether a process has died.
  package func isDead(_ process: String) -> Bool { core.locked { core.known(process)?.isDead ?? false } }

  /// How many bytes the files of a machine may still grow by; what a write does not find room for fails with `SQLITE_FULL`.
  /// Nil: there is room again. Deleting and truncating give room back.
  package func setFreeBytes(_ bytes: Int?, on machine: String) {
    core.locked { core.machine(machine).freeBytes = bytes }
  }
}
