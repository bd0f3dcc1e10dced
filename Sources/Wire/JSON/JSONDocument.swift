// SPDX-License-Identifier: Apache-2.0

/// One entry of a document's tape: what begins where, and where it ends or what it is worth.
///
/// Sixteen bytes for each value and each member's name, whatever it holds, so that a hostile message costs memory in
/// proportion to its size, and a text becomes a `String` only if somebody asks for it.
struct JSONToken: Sendable {
  let kind: JSONNode.Kind
  /// Whether a text holds an escape, so that its bytes are not its content.
  let hasEscape: Bool
  let start: UInt32
  /// Integers: the number. Reals: the bits. Texts: the offset of the closing quote below, a hint to tell names apart above.
  /// Containers: the index of the token after their last below, the number of their elements above.
  var payload: UInt64

  /// The lower half of the payload.
  var end: Int { Int(UInt32(truncatingIfNeeded: payload)) }
  /// The upper half of the payload.
  var upper: UInt32 { UInt32(truncatingIfNeeded: payload >> 32) }

  static func pair(_ lower: Int, _ upper: Int) -> UInt64 { UInt64(lower) | UInt64(upper) << 32 }
}

/// A message that has been read: its bytes, all of them checked, and the tape that tells what is where.
package final class JSONDocument: Sendable {
  let bytes: [UInt8]
  let tape: [JSONToken]

  init(bytes: [UInt8], tape: [JSONToken]) {
    self.bytes = bytes
    self.tape = tape
  }

  /// The value that the whole document is.
  package var root: JSONNode { JSONNode(document: self, index: 0) }

  // What follows works on indices of the tape, since a node for each step would count references each time.

  /// The token after this value and all that is in it; after a member's name, its value.
  func next(after index: Int) -> Int {
    let token = tape[index]
    return token.kind >= .array ? token.end : index + 1
  }

  func content(_ index: Int) -> ArraySlice<UInt8> {
    let token = tape[index]
    let range = Int(token.start) + 1..<token.end
    return token.hasEscape ? JSONText.unescaped(bytes[range])[...] : bytes[range]
  }

  func string(_ index: Int) -> String { String(decoding: content(index), as: UTF8.self) }

  /// The value of the member of that name; nil if there is none.
  func member(_ name: StaticString, of object: Int) -> Int? {
    let end = tape[object].end
    var index = object + 1
    return name.withUTF8Buffer { name in
      while index < end {
        if isText(index, name) { return index + 1 }
        index = next(after: index + 1)
      }
      return nil
    }
  }

  /// Whether a text has this content, compared by bytes.
  func isText(_ index: Int, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
    let token = tape[index]
    let start = Int(token.start) + 1
    if token.hasEscape { return JSONText.unescaped(bytes[start..<token.end]).elementsEqual(other) }
    guard token.end - start == other.count else { return false }
    for place in 0..<other.count where bytes[start + place] != other[place] { return false }
    return true
  }
}

/// A value of a document, or the name of a member.
package struct JSONNode: Sendable {
  package enum Kind: UInt8, Sendable {
    case null
    case no
    case yes
    case integer
    case real
    case string
    case name
    case array
    case object
  }

  let document: JSONDocument
  let index: Int

  var token: JSONToken { document.tape[index] }
  /// Whether it is a text with these bytes.
  func isText(_ text: String) -> Bool {
    var text = text
    return kind == .string && text.withUTF8 { document.isText(index, $0) }
  }

  package var kind: Kind { token.kind }
  /// Where it begins in the message.
  package var offset: Int { Int(token.start) }
  /// The number of elements or members.
  package var count: Int { Int(token.upper) }

  /// The token after this value and all that is in it; after a member's name, its value.
  package var following: JSONNode { JSONNode(document: document, index: document.next(after: index)) }

  /// The elements of an array; the names of an object's members, each `following` of which is the value.
  package var children: Children { Children(index: index + 1, end: token.end, document: document) }

  package var rawInteger: Int64 { Int64(bitPattern: token.payload) }
  package var rawReal: Double { Double(bitPattern: token.payload) }
  package var rawString: String { document.string(index) }

  /// The bytes of a text, without quotes and escapes.
  var content: ArraySlice<UInt8> { document.content(index) }

  /// The value of the member of that name, compared by bytes; nil if there is none, or this is not an object.
  package func member(_ name: StaticString) -> JSONNode? {
    guard kind == .object, let value = document.member(name, of: index) else { return nil }
    return JSONNode(document: document, index: value)
  }

  /// Walks the tokens of a container, one child at a time.
  package struct Children: Sequence, IteratorProtocol {
    fileprivate var index: Int
    fileprivate let end: Int
    fileprivate let document: JSONDocument

    package mutating func next() -> JSONNode? {
      guard index < end else { return nil }
      let node = JSONNode(document: document, index: index)
      index = document.next(after: node.kind == .name ? index + 1 : index)
      return node
    }
  }
}

extension JSONNode.Kind: Comparable {
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
