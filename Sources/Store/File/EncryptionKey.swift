// SPDX-License-Identifier: Apache-2.0

/// The key of a store's file: 32 random bytes that the app keeps, in the system's keychain say. It is never part of an error, a
/// description or a mirror.
///
/// A passphrase is no key: derive one, with the work that takes, once.
public struct EncryptionKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package let bytes: [UInt8]

  /// A key of 32 bytes, or of 48: the last 16 are then the salt at the beginning of the file.
  ///
  /// - Throws: `StoreError` with code `invalid` if there are more or fewer bytes.
  public init(_ bytes: some Sequence<UInt8>) throws {
    self.bytes = Array(bytes)
    guard self.bytes.count == 32 || self.bytes.count == 48 else {
      throw StoreError(.invalid, "a key has 32 bytes, or 48 with a salt, \(self.bytes.count) are given")
    }
  }

  /// Says that it is one.
  public var description: String { "EncryptionKey" }
  /// Says that it is one.
  public var debugDescription: String { description }
  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
