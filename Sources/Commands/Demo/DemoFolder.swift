// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit

/// A folder for the files of one demonstration. It stays when the run is over, to be looked at; a run that comes more than a
/// day later removes it, unless a lock tells that it is still in use.
final class DemoFolder: Sendable {
  let path: String
  /// Held until the process ends.
  private let lock: Int32

  /// - Parameter chosen: a new or an empty folder; nil for one in the system's temporary folder.
  init(_ chosen: String?) throws {
    if chosen == nil { DemoFolder.removeEarlier() }
    let ambient = SystemAmbient()
    let path = chosen ?? DemoFolder.prefix + String(ambient.random(), radix: 16)
    try NewFile.folder(path)
    guard try FileManager.default.contentsOfDirectory(atPath: path).isEmpty else {
      throw UsageError(description: "--folder \(path) is not empty; choose another one")
    }
    guard let lock = DemoFolder.lock(path, isNew: true) else {
      throw FileError(path, "the folder cannot be locked", "choose another place")
    }
    self.path = path
    self.lock = lock
  }

  deinit { close(lock) }

  /// The user's number in the name keeps others' folders out of sight.
  private static var prefix: String {
    FileManager.default.temporaryDirectory.appendingPathComponent("skerry-demo-\(getuid())-").path
  }

  /// Takes the lock of a demonstration's folder; nil if somebody has it, or the folder is none.
  private static func lock(_ path: String, isNew: Bool = false) -> Int32? {
    let file = open(path + "/demo.lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW | (isNew ? O_CREAT | O_EXCL : 0), 0o600)
    if file < 0 { return nil }
    if flock(file, LOCK_EX | LOCK_NB) == 0 { return file }
    close(file)
    return nil
  }

  private static func removeEarlier() {
    let root = FileManager.default.temporaryDirectory
    let dayAgo = Double(SystemAmbient().now()) / 1_000 - 86_400
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    for name in names {
      let path = root.appendingPathComponent(name).path
      guard path.hasPrefix(prefix), let found = try? FileManager.default.attributesOfItem(atPath: path),
        found[.type] as? FileAttributeType == .typeDirectory,
        (found[.ownerAccountID] as? NSNumber)?.uint32Value == getuid(),
        let changed = (found[.modificationDate] as? Date)?.timeIntervalSince1970, changed < dayAgo,
        let lock = lock(path)
      else { continue }
      try? FileManager.default.removeItem(atPath: path)
      close(lock)
    }
  }
}
