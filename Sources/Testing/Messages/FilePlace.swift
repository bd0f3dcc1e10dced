// SPDX-License-Identifier: Apache-2.0

package import SkerryDiskKit

/// Where a world's files are: on a disk in memory, which can break, or in a folder, where other programs find them too.
package enum FilePlace: Sendable {
  case memory(MemoryDisk)
  /// An existing folder, by its path.
  case folder(String)

  /// SQLite's name of the file system.
  package var vfs: String? { if case .memory(let disk) = self { disk.vfsName } else { nil } }

  /// How a process names a file of a machine. In a folder there is one machine, and processes have no names.
  package func path(_ file: String, on machine: String = "world", of process: String) -> String {
    switch self {
    case .memory: MemoryDisk.path(process: process, machine: machine, file: file)
    case .folder(let folder): folder + "/" + file
    }
  }
}
