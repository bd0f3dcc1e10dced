// SPDX-License-Identifier: Apache-2.0

/// What the text of an id may be, by both sides: a row that would name another space is in none, since a page with such a
/// name could be read by nobody.
package enum IDText {
  /// Not empty, not too long, and without control characters (C0, DEL and C1).
  package static func isPlain(_ text: some Collection<UInt8>) -> Bool {
    text.withContiguousStorageIfAvailable { isPlain($0) } ?? Array(text).withUnsafeBufferPointer { isPlain($0) }
  }

  /// A kind, a colon and an id. No kind is longer than a name in a schema.
  package static func isSpace(_ text: some Collection<UInt8>) -> Bool {
    text.withContiguousStorageIfAvailable { isSpace($0) } ?? Array(text).withUnsafeBufferPointer { isSpace($0) }
  }

  // Over plain memory: a generic collection costs a call for each byte when the caller is in another module.

  private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard (1...Limits.idBytes).contains(text.count) else { return false }
    var last: UInt8 = 0
    for byte in text {
      if byte < 0x20 || byte == 0x7F || last == 0xC2 && byte < 0xA0 { return false }
      last = byte
    }
    return true
  }

  private static func isSpace(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
    return colon <= 48 && isPlain(UnsafeBufferPointer(rebasing: text[..<colon]))
      && isPlain(UnsafeBufferPointer(rebasing: text[(colon + 1)...]))
  }
}
