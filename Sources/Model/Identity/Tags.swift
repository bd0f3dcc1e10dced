// SPDX-License-Identifier: Apache-2.0

/// Sixteen bytes, compared as a big-endian number; the common form of the ids that rows carry.
package struct Bytes16: Hashable, Comparable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Nil unless there are exactly sixteen bytes.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
    self.init(high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1))
  }

  /// The same without a generic call, which costs more than the rest where rows are read.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self = bytes.withUnsafeBytes { bytes in
      Bytes16(
        high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }

  package var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }

  package static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }

  /// The UUID form, 8-4-4-4-12 lower-case hexadecimal digits.
  package var uuidText: String {
    var out = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { out.append("-") }
      out.append(Hex.digit(byte >> 4))
      out.append(Hex.digit(byte & 15))
    }
    return out
  }

  /// Reads the UUID form; nil for anything else, upper-case digits included, so that each id has one text.
  package init?(uuidText text: String) {
    var bytes: [UInt8] = []
    var half: UInt8?
    for (index, unit) in text.utf8.enumerated() {
      if [8, 13, 18, 23].contains(index) {
        guard unit == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let value = Hex.value(unit) else { return nil }
      if let first = half {
        bytes.append(first << 4 | value)
        half = nil
      } else {
        half = value
      }
    }
    guard text.utf8.count == 36, let parsed = Bytes16(bytes) else { return nil }
    self = parsed
  }
}

/// Lower-case hexadecimal.
package enum Hex {
  static func digit(_ value: UInt8) -> Character {
    Character(Unicode.Scalar(value < 10 ? value + UInt8(ascii: "0") : value - 10 + UInt8(ascii: "a")))
  }

  static func value(_ unit: UInt8) -> UInt8? {
    switch unit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): unit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): unit - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// Two digits a byte.
  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    var out = ""
    for byte in bytes {
      out.append(digit(byte >> 4))
      out.append(digit(byte & 15))
    }
    return out
  }

  /// Reads what `text` writes; nil for anything else.
  package static func bytes(_ text: String) -> [UInt8]? {
    let digits = text.utf8.map(value)
    guard digits.count % 2 == 0 else { return nil }
    var out: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      out.append(high << 4 | low)
    }
    return out
  }
}

/// The client-made id of a mutation (a UUIDv7), which is also its idempotency key and never changes.
public struct MutationID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let raw: Bytes16

  package init(raw: Bytes16) { self.raw = raw }

  package init?(bytes: [UInt8]) {
    guard let raw = Bytes16(bytes) else { return nil }
    self.raw = raw
  }

  /// Reads the UUID form in lower case; nil for anything else.
  public init?(_ text: String) {
    guard let raw = Bytes16(uuidText: text) else { return nil }
    self.raw = raw
  }

  /// The UUID form, 8-4-4-4-12 lower-case hexadecimal digits.
  public var description: String { raw.uuidText }

  /// The order of the bytes, which for ids made by one device is the order in which they were made.
  public static func < (left: Self, right: Self) -> Bool { left.raw < right.raw }

  /// The version tag of a row that this mutation wrote.
  package var tag: VersionTag { VersionTag(raw: raw) }
}

/// The identity of a row's version: the id of the mutation that wrote it, or something unique for a foreign write.
///
/// Versions are compared for equality by tag only; which of two is newer is told by the server's capture number.
public struct VersionTag: Hashable, Sendable, CustomStringConvertible {
  package let raw: Bytes16

  package init(raw: Bytes16) { self.raw = raw }

  package init?(bytes: [UInt8]) {
    guard let raw = Bytes16(bytes) else { return nil }
    self.raw = raw
  }

  package init?(text: String) {
    guard let raw = Bytes16(uuidText: text) else { return nil }
    self.raw = raw
  }

  /// Whether it has the form that is kept for writes of programs that know nothing of mutations: a UUID of version 8
  /// (RFC 9562, section 5.8). Mutations have ids of version 7, so no mutation can pass for such a write.
  package var isForeign: Bool { raw.high >> 12 & 0xF == 8 }

  /// The UUID form, 8-4-4-4-12 lower-case hexadecimal digits.
  public var description: String { raw.uuidText }
}

/// One life of a row, from its insert to its delete: the insert's version tag and the insert's place in its mutation.
///
/// Every operation names the incarnation it means, so that an edit never meets a row that was deleted and made anew.
public struct Incarnation: Hashable, Sendable, CustomStringConvertible {
  package let tag: VersionTag
  package let index: UInt16

  package init(tag: VersionTag, index: UInt16) {
    self.tag = tag
    self.index = index
  }

  /// Eighteen bytes: the tag, then the index in big-endian order.
  package var bytes: [UInt8] { tag.raw.bytes + [UInt8(index >> 8), UInt8(index & 255)] }

  package init?(bytes: [UInt8]) {
    guard bytes.count == 18, let tag = Bytes16(bytes[..<16]).map({ VersionTag(raw: $0) }) else { return nil }
    self.init(tag: tag, index: UInt16(bytes[16]) << 8 | UInt16(bytes[17]))
  }

  package init?(text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let tag = VersionTag(text: String(parts[0])), let index = UInt16(parts[1]),
      String(index) == parts[1]
    else { return nil }
    self.init(tag: tag, index: index)
  }

  /// The tag and the index, joined by a colon.
  public var description: String { "\(tag):\(index)" }
}
