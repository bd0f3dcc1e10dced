// SPDX-License-Identifier: Apache-2.0

/// A short text that is compared, hashed and ordered by its UTF-8 bytes.
///
/// Swift's `String ==` is canonical equivalence: it equates NFC with NFD and KELVIN SIGN with K. For an owner, a space or
/// an id that would be an authorisation hole, so every identifier of Skerry conforms to this instead of being a `String`.
public protocol ByteText: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The text itself.
  var text: String { get }
  /// Takes the text as it is.
  init(_ text: String)
}

extension ByteText {
  /// The text itself.
  public var description: String { text }

  /// Takes a literal as it is.
  public init(stringLiteral value: String) { self.init(value) }

  /// Whether both are the same bytes.
  public static func == (left: Self, right: Self) -> Bool {
    let (left, right) = (left.text.utf8, right.text.utf8)
    guard left.count == right.count else { return false }
    return left.withContiguousStorageIfAvailable { left in
      right.withContiguousStorageIfAvailable { left.elementsEqual($0) }
    }.flatMap { $0 } ?? left.elementsEqual(right)
  }

  /// The order of the bytes.
  public static func < (left: Self, right: Self) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }
}

extension Hasher {
  /// Feeds a text's UTF-8 bytes and a terminator that UTF-8 never contains.
  mutating func combine(bytesOf text: String) {
    var text = text
    text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    combine(0xFF as UInt8)
  }
}

/// The unit of sharing and of permission: `kind:id`, such as `user:ana` or `team:42`.
public struct SpaceID: ByteText {
  /// The whole name, `kind:id`.
  public let text: String

  /// Takes a whole name, `kind:id`.
  public init(_ text: String) { self.text = text }

  /// Joins a kind and an id.
  public init(kind: String, id: String) { text = kind + ":" + id }

  /// The part before the first colon; the whole text if there is none.
  public var kind: Substring { text[..<colon] }

  /// The part after the first colon; empty if there is none.
  public var id: Substring { colon == text.endIndex ? "" : text[text.utf8.index(after: colon)...] }

  /// The first byte that is a colon. No `Character` would do: a combining mark after the colon makes it another one.
  private var colon: String.Index { text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex }

  /// The space of an account's own rows.
  public static func user(_ account: AccountID) -> SpaceID { SpaceID(kind: "user", id: account.text) }

  /// The space of a device's own receipts.
  public static func replica(_ replica: ReplicaID) -> SpaceID { SpaceID(kind: "replica", id: replica.text) }

  /// Whether this is a device's own space of receipts, which no row may enter.
  package var holdsReceipts: Bool { text.utf8.starts(with: "replica:".utf8) }
}

/// Who is signed in: the subject of the token.
public struct AccountID: ByteText {
  /// The id as the token states it.
  public let text: String

  /// Takes the id as the token states it.
  public init(_ text: String) { self.text = text }
}

/// One device's copy: minted at random for each store file, and anew when a copy of it is found in use elsewhere.
public struct ReplicaID: ByteText {
  /// The id's text.
  public let text: String

  /// Takes an id as it was stored or received.
  public init(_ text: String) { self.text = text }
}
