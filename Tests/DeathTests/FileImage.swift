// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryTestSupport

/// The databases of a folder at one moment, as a kill leaves them: each file and its WAL. The shared memory goes with the
/// process, so it is left out, and whoever opens the files next has to recover the WAL.
struct FileImage: Hashable, Sendable {
  private(set) var files: [String: Data] = [:]

  init(of folder: TemporaryFolder) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    for name in names where !name.hasSuffix("-shm") {
      files[name] = try Data(contentsOf: folder.url.appendingPathComponent(name))
    }
  }

  /// Puts the files into a folder of their own.
  func restored() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try put(into: folder)
    return folder
  }

  /// Puts the files into a folder where nobody has them open.
  func put(into folder: TemporaryFolder) throws {
    for (name, data) in files { try data.write(to: folder.url.appendingPathComponent(name)) }
  }

  func holds(_ name: String) -> Bool { files[name] != nil }

  /// One database alone, with its WAL.
  func only(_ database: String) -> FileImage {
    var out = self
    out.files = files.filter { $0.key == database || $0.key == database + "-wal" }
    return out
  }

  /// The same moment with another content of one file; nil: without the file.
  func with(_ name: String, _ data: Data?) -> FileImage {
    var out = self
    out.files[name] = data
    return out
  }
}
