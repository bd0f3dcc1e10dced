// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A folder that goes with the value that owns it; in memory where the system offers that, since what is tested is order
/// and content, not the disk.
package final class TemporaryFolder: Sendable {
  package let url: URL

  package init() throws {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let root = FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
    url = root.appendingPathComponent("skerry-" + ProcessInfo.processInfo.globallyUniqueString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  package func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Copies a database that nobody has open, with what belongs to it, over another name.
  package func copyDatabase(_ from: String, to: String) throws {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path(to) + suffix)
      if FileManager.default.fileExists(atPath: path(from) + suffix) {
        try FileManager.default.copyItem(atPath: path(from) + suffix, toPath: path(to) + suffix)
      }
    }
  }
}
