// SPDX-License-Identifier: Apache-2.0

/// One directory of files, which its processes share and which loses power as a whole.
final class Machine {
  let name: String
  private(set) var files: [String: FileContent] = [:]
  /// The files that are there after any power loss.
  private var durable: [String: FileContent] = [:]
  /// Files made (with their content) and deleted (nil) since the directory was synced.
  private var changes: [(name: String, content: FileContent?)] = []
  /// The living processes that have asked for a file here.
  private(set) var processes: [DiskProcess] = []
  /// By how many bytes files may still grow; nil: without limit.
  var freeBytes: Int?

  init(name: String) { self.name = name }

  func welcome(_ process: DiskProcess) {
    if !process.isDead, !processes.contains(where: { $0 === process }) { processes.append(process) }
  }

  func bury(_ process: DiskProcess) { processes.removeAll { $0 === process } }

  func make(_ name: String) -> FileContent {
    let content = FileContent()
    files[name] = content
    changes.append((name, content))
    return content
  }

  /// - Returns: whether it was there.
  func delete(_ name: String) -> Bool {
    guard let content = files.removeValue(forKey: name) else { return false }
    changes.append((name, nil))
    release(content.size)
    return true
  }

  /// What was made and deleted is on the disk. All files are in one directory.
  func syncDirectory() {
    if changes.isEmpty { return }
    durable = files
    changes.removeAll()
  }

  /// Puts a file there for certain; nil takes it away.
  func place(_ name: String, _ content: FileContent?) {
    files[name] = content
    durable[name] = content
    changes.removeAll { $0.name == name }
  }

  /// How much of a growth there is room for, and takes it.
  func take(_ growth: Int) -> Int {
    guard growth > 0, let free = freeBytes else { return growth }
    let taken = max(0, min(free, growth))
    freeBytes = free - taken
    return taken
  }

  func release(_ count: Int) { if let free = freeBytes { freeBytes = free + count } }

  /// Each creation and deletion since the directory was synced is kept or not; then each file loses what it may lose.
  func losePower(_ random: inout DiskRandom, _ figures: inout MemoryDisk.Figures) {
    for change in changes where random.coin() { durable[change.name] = change.content }
    files = durable
    changes.removeAll()
    // By name: the order of a dictionary is another one in each process.
    for name in files.keys.sorted() {
      guard let loss = files[name]?.losePower(&random) else { continue }
      figures.droppedWrites += loss.dropped
      figures.tornWrites += loss.torn
    }
  }
}
