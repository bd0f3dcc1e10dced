// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// A failed call on the file system: what was tried, on which path, and the system's own word.
public struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was tried, in a word.
  public let call: String
  /// The path it was tried on.
  public let path: String
  /// The system's number of the error (`errno`).
  public let code: Int32

  package init(_ call: String, _ path: String, code: Int32) {
    self.call = call
    self.path = path
    self.code = code
  }

  /// Whether there is no such file.
  public var isMissing: Bool { code == ENOENT }

  /// Call, path and the system's sentence in one line.
  public var description: String { "cannot \(call) \(path): \(String(cString: strerror(code))) (error \(code))" }
}
