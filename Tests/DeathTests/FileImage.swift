// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryDiskKit

/// The databases of all machines at one moment, as a kill leaves them: each file and its WAL. The shared memory goes with the
/// process, so it is left out, and whoever opens the files next has to recover the WAL.
struct FileImage: Hashable, Sendable {
  /// By name: each file is on the machine that it is named after.
  private(set) var files: [String: Data] = [:]

  init(of disk: MemoryDisk) {
    for machine in MortalWorld.machines {
      for name in disk.files(on: machine) { files[name] = disk.bytes(of: name, on: machine).map { Data($0) } }
    }
  }

  static func machine(of file: String) -> String { String(file.prefix { $0 != "." }) }

  /// Puts the files on a disk of their own.
  func restored(seed: UInt64 = 0) -> MemoryDisk {
    let disk = MemoryDisk(seed: seed, tracesContent: false)
    put(onto: disk)
    return disk
  }

  /// Puts the files on a disk where nobody has them open.
  func put(onto disk: MemoryDisk) {
    for (name, data) in files { disk.setBytes(Array(data), of: name, on: FileImage.machine(of: name)) }
  }

  /// One database alone, with its WAL.
  func only(_ database: String) -> FileImage {
    var out = self
    out.files = files.filter { $0.key == database || $0.key == database + "-wal" }
    return out
  }
}
