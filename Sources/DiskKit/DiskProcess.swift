// SPDX-License-Identifier: Apache-2.0

/// A process as the disk knows it: its open files, its calls, and what is planned for it.
final class DiskProcess {
  /// A fault that waits for its call.
  struct Plan {
    var fault: MemoryDisk.DiskFault
    /// Which calls count.
    var kinds: MemoryDisk.CallKinds
    /// How many of them are still to come before the one that meets it.
    var remaining: Int
  }

  let label: String
  private(set) var isDead = false
  /// By kind.
  private var counts = [Int](repeating: 0, count: MemoryDisk.CallKinds.number)
  private(set) var lastFault: MemoryDisk.Call?
  var plan: Plan?
  private var handles: [DiskHandle] = []

  init(label: String) { self.label = label }

  func add(_ handle: DiskHandle) { handles.append(handle) }

  func remove(_ handle: DiskHandle) {
    guard let index = handles.firstIndex(where: { $0 === handle }) else { return }
    handles.swapAt(index, handles.count - 1)
    handles.removeLast()
  }

  /// All that it has open is dead, and holds nothing any more.
  func die() {
    isDead = true
    plan = nil
    for handle in handles { handle.release() }
    handles.removeAll()
  }

  /// Counts a call.
  ///
  /// - Returns: the fault that it meets.
  func count(_ kind: MemoryDisk.CallKinds, _ file: String) -> MemoryDisk.DiskFault? {
    counts[kind.rawValue.trailingZeroBitCount] += 1
    guard var due = plan, due.kinds.rawValue & kind.rawValue != 0 else { return nil }
    due.remaining -= 1
    if due.remaining > 0 {
      plan = due
      return nil
    }
    due.remaining = 1
    plan = if case .error(_, isLasting: true) = due.fault { due } else { nil }
    lastFault = lastFault ?? MemoryDisk.Call(kind: kind, file: file)
    noteFailure()
    return due.fault
  }

  func calls(_ kinds: MemoryDisk.CallKinds) -> Int {
    counts.indices.reduce(0) { kinds.rawValue >> UInt16($1) & 1 == 1 ? $0 + counts[$1] : $0 }
  }

  func forgetFault() { lastFault = nil }

  /// Calls that met a fault or found no room, over the whole of its life.
  private(set) var failures = 0
  func noteFailure() { failures += 1 }
}
