// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// A JSON value as a tree, for what is small or of unknown shape. The messages of the protocol are read from the
/// `JSONDocument` itself, without this step.
package enum JSON: Sendable {
  case null
  case bool(Bool)
  /// A number written without point and exponent.
  case integer(Int64)
  /// A number written with a point or an exponent.
  case real(Double)
  case string(String)
  case array([JSON])
  /// The members in the order in which they were written. No two names are the same bytes, though Swift's `==` may equate
  /// two of them, which is why this is not a dictionary.
  case object([Member])

  /// A name and its value.
  package struct Member: Sendable {
    package var name: String
    package var value: JSON

    package init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// Reads one value and nothing after it, under the rules of `JSONReader`.
  ///
  /// - Parameter limit: the most bytes that are looked at.
  package init(
    parsing bytes: [UInt8], limit: Int = Limits.messageBytes, depth: Int = Limits.jsonDepth
  ) throws(WireError) {
    self.init(try JSONReader.read(bytes, limit: limit, depth: depth).root)
  }

  /// The member of that name, compared by bytes; nil if there is none, or this is not an object.
  package subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The bytes, without any white space.
  package var encoded: [UInt8] {
    var writer = JSONWriter()
    writer.json(self)
    return writer.bytes
  }
}

extension JSON {
  /// The tree of a node that was read.
  package init(_ node: JSONNode) { self.init(node.document, node.index) }

  private init(_ document: JSONDocument, _ index: Int) {
    let token = document.tape[index]
    switch token.kind {
    case .null: self = .null
    case .no: self = .bool(false)
    case .yes: self = .bool(true)
    case .integer: self = .integer(Int64(bitPattern: token.payload))
    case .real: self = .real(Double(bitPattern: token.payload))
    case .string, .name: self = .string(document.string(index))
    case .array: self = .array(JSON.elements(document, index + 1, token))
    case .object: self = .object(JSON.members(document, index + 1, token))
    }
  }

  private static func elements(_ document: JSONDocument, _ first: Int, _ array: JSONToken) -> [JSON] {
    var elements: [JSON] = []
    elements.reserveCapacity(Int(array.upper))
    var index = first
    while index < array.end {
      elements.append(JSON(document, index))
      index = document.next(after: index)
    }
    return elements
  }

  private static func members(_ document: JSONDocument, _ first: Int, _ object: JSONToken) -> [Member] {
    var members: [Member] = []
    members.reserveCapacity(Int(object.upper))
    var index = first
    while index < object.end {
      members.append(Member(document.string(index), JSON(document, index + 1)))
      index = document.next(after: index + 1)
    }
    return members
  }
}

extension JSON: Equatable {
  /// Whether both are the same, texts and doubles by their bytes and members in the same order.
  package static func == (left: JSON, right: JSON) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)):
      a.elementsEqual(b) { $0.name.utf8.elementsEqual($1.name.utf8) && $0.value == $1.value }
    default: false
    }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral text: String) { self = .string(text) }
  package init(integerLiteral number: Int64) { self = .integer(number) }
  package init(booleanLiteral flag: Bool) { self = .bool(flag) }
  package init(nilLiteral: ()) { self = .null }
  package init(arrayLiteral elements: JSON...) { self = .array(elements) }
  /// The names must differ.
  package init(dictionaryLiteral members: (String, JSON)...) { self = .object(members.map { Member($0, $1) }) }

  package init(_ number: Int) { self = .integer(Int64(number)) }
}

extension JSON {
  /// Bytes as base64 with padding, the form that a blob has in messages.
  package static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    Base64.append(bytes, to: &text, .standard)
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil if it is not base64 with padding.
  package static func bytes(base64 text: String) -> [UInt8]? { Base64.decode(Array(text.utf8)[...], .standard) }
}
