// SPDX-License-Identifier: Apache-2.0

/// What the text of an id may be, by both sides: a row that would name another space is in none, since a page with such a
/// name could be read by nobody.
package enum IDText {
  /// Not empty, not too long, and without control characters (C0, DEL and C1).
  package static func isPlain(_ text: some Collection<UInt8>) -> Bool {
    guard (1...Limits.idBytes).contains(text.count) else { return false }
    var last: UInt8 = 0
    for byte in text {
      if byte < 0x20 || byte == 0x7F || last == 0xC2 && byte < 0xA0 { return false }
      last = byte
    }
    return true
  }

  /// A kind, a colon and an id. No kind is longer than a name in a schema.
  package static func isSpace(_ text: some Collection<UInt8>) -> Bool {
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let kind = text[..<colon]
    return kind.count <= 48 && isPlain(kind) && isPlain(text[text.index(after: colon)...])
  }
}
