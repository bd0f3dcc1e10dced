// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Files that a command makes, for its own user's eyes only.
enum NewFile {
  /// A folder that is there afterwards.
  static func folder(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw FileError(path, "the folder cannot be made (\(error.localizedDescription))", "choose another place")
    }
  }

  /// A file with this content, whatever was there.
  static func replace(_ bytes: [UInt8], at path: String) throws {
    do { try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
      throw FileError(path, "the file cannot be written (\(error.localizedDescription))", "choose another place")
    }
  }

  /// A file that was not there before.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw FileError(path, "the file cannot be made (\(String(cString: strerror(errno))))", "choose another place")
    }
    let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
    try handle.write(contentsOf: Data(bytes))
  }
}

/// Files that a command reads.
enum OldFile {
  static func bytes(_ path: String) throws -> [UInt8] {
    do { return Array(try Data(contentsOf: URL(fileURLWithPath: path))) } catch {
      throw FileError(path, "it cannot be read (\(error.localizedDescription))", "see whether it is there")
    }
  }

  static func text(_ path: String) throws -> String {
    guard let text = String(validating: try bytes(path), as: UTF8.self) else {
      throw FileError(path, "a text was expected, this is no UTF-8", "take another file")
    }
    return text
  }
}
