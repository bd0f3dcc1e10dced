// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not the message that was expected: where, what was wanted, what was there.
///
/// It never repeats what it found, only names its kind: an error goes into logs and back over the network, and a message
/// holds people's data. A person with the message at hand finds the place by the offset.
package struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What a server or a client does about it differs by this alone.
  package enum Code: String, Sendable {
    /// The bytes are not strict JSON.
    case malformed
    /// A limit is exceeded: bytes, depth, number of items.
    case tooLarge
    /// JSON, but not the message that was expected.
    case invalid
    /// The message is of a protocol that this build does not speak: one of the two sides needs an update.
    case protocolVersion
  }

  package let code: Code
  /// The byte at which reading stopped, counted from 0.
  package let offset: Int
  package let expected: String
  package let found: String

  package init(_ code: Code, at offset: Int, expected: String, found: String) {
    self.code = code
    self.offset = offset
    self.expected = expected
    self.found = found
  }

  /// All in one line, fit for a stranger.
  package var description: String { "message at byte \(offset): expected \(expected), found \(found)" }
}
