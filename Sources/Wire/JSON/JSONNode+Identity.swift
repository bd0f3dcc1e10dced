// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// Ids on the wire. Their texts are held against the limits here, so that nothing behind the codec meets an endless id, an
/// empty one, or one that breaks the lines of a log.
extension JSONNode {
  func mutationID() throws(WireError) -> MutationID { MutationID(raw: try uuid()) }

  func version() throws(WireError) -> VersionTag { VersionTag(raw: try uuid()) }

  private func uuid() throws(WireError) -> Bytes16 {
    guard kind == .string else { throw wrong("a UUID") }
    guard let raw = UUIDText.decode(content) else { throw refused("a UUID in lower case") }
    return raw
  }

  /// A UUID, a colon and a number without leading zeros.
  func incarnation() throws(WireError) -> Incarnation {
    guard kind == .string else { throw wrong("an incarnation") }
    let text = content
    let digits = text.dropFirst(37)
    guard text.dropFirst(36).first == UInt8(ascii: ":"), let tag = UUIDText.decode(text.prefix(36)),
      (1...5).contains(digits.count), digits.count == 1 || digits.first != UInt8(ascii: "0"),
      digits.allSatisfy({ $0 &- 0x30 < 10 }),
      let index = UInt16(exactly: digits.reduce(0) { $0 * 10 + Int($1 &- 0x30) })
    else { throw refused("an incarnation, uuid:index") }
    return Incarnation(tag: VersionTag(raw: tag), index: index)
  }

  func replicaID() throws(WireError) -> ReplicaID {
    guard kind == .string else { throw wrong("a replica id") }
    guard IDText.isPlain(content) else { throw refused("a replica id of 1 to \(Limits.idBytes) plain bytes") }
    return ReplicaID(rawString)
  }

  /// The name of a space, `kind:id`. The limit is the id's, so that every account that fits has a space that fits.
  func spaceID() throws(WireError) -> SpaceID {
    guard kind == .string else { throw wrong("a space") }
    guard IDText.isSpace(content) else { throw refused("a space, kind:id with an id of 1 to \(Limits.idBytes) bytes") }
    return SpaceID(rawString)
  }

  /// The name of a member that is the name of a space.
  func spaceName() throws(WireError) -> SpaceID {
    guard IDText.isSpace(content) else { throw refused("a space as the member's name") }
    return SpaceID(rawString)
  }

  func cursor() throws(WireError) -> Cursor {
    guard kind == .string else { throw wrong("a cursor") }
    guard let bytes = Base64.decode(content, .url), let cursor = try? Cursor(encoded: bytes),
      cursor.owner.count <= Limits.replicaIDs, cursor.owner.allSatisfy({ IDText.isPlain($0.text.utf8) }),
      cursor.open.allSatisfy({ IDText.isSpace($0.space.text.utf8) })
    else { throw refused("a cursor as the server gave it") }
    return cursor
  }
}

/// UUIDs, straight between bytes: a page holds two for each row.
enum UUIDText {
  /// Lower case with dashes, 36 bytes; nil for anything else, so that each id has one text.
  static func decode(_ text: ArraySlice<UInt8>) -> Bytes16? {
    guard text.count == 36 else { return nil }
    let start = text.startIndex
    var high: UInt64 = 0
    var low: UInt64 = 0
    for place in 0..<36 {
      let unit = text[start + place]
      if isDash(place) {
        guard unit == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let value = HexDigits.value(unit) else { return nil }
      if place < 18 { high = high << 4 | UInt64(value) } else { low = low << 4 | UInt64(value) }
    }
    return Bytes16(high: high, low: low)
  }

  static func append(_ id: Bytes16, to out: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { text in
      var (high, low) = (id.high, id.low)
      for place in 0..<36 {
        if isDash(place) {
          text[place] = UInt8(ascii: "-")
        } else if place < 18 {
          high = high << 4 | high >> 60
          text[place] = HexDigits.lower(UInt8(truncatingIfNeeded: high) & 15)
        } else {
          low = low << 4 | low >> 60
          text[place] = HexDigits.lower(UInt8(truncatingIfNeeded: low) & 15)
        }
      }
      out.append(contentsOf: text)
    }
  }

  @inline(__always)
  private static func isDash(_ place: Int) -> Bool { place == 8 || place == 13 || place == 18 || place == 23 }
}
