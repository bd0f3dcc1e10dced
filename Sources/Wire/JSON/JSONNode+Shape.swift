// SPDX-License-Identifier: Apache-2.0

/// Reading members of an expected shape. Members that nobody asks for are ignored: a newer side may add some.
extension JSONNode {
  /// An error that says what kind of value stands here.
  func wrong(_ expected: String) -> WireError {
    WireError(.invalid, at: offset, expected: expected, found: kind.words)
  }

  /// An error about a value of the right kind with the wrong content.
  func refused(_ expected: String) -> WireError {
    WireError(.invalid, at: offset, expected: expected, found: "another \(kind.word)")
  }

  /// The member of that name, which must be there.
  func required(_ name: StaticString) throws(WireError) -> JSONNode {
    guard kind == .object else { throw wrong("an object") }
    guard let node = member(name) else {
      throw WireError(.invalid, at: offset, expected: "an object with '\(name)'", found: "one without it")
    }
    return node
  }

  /// The member of that name; nil if it is absent or null.
  func optional(_ name: StaticString) throws(WireError) -> JSONNode? {
    guard kind == .object else { throw wrong("an object") }
    guard let node = member(name), node.kind != .null else { return nil }
    return node
  }

  func text(_ name: StaticString) throws(WireError) -> String {
    let node = try required(name)
    guard node.kind == .string else { throw node.wrong("a text as '\(name)'") }
    return node.rawString
  }

  func optionalText(_ name: StaticString) throws(WireError) -> String? {
    guard let node = try optional(name) else { return nil }
    guard node.kind == .string else { throw node.wrong("a text or null as '\(name)'") }
    return node.rawString
  }

  /// The word of a closed list that a member holds.
  func word<Word: RawRepresentable>(_ name: StaticString, _: Word.Type) throws(WireError) -> Word
  where Word.RawValue == String {
    let node = try required(name)
    guard node.kind == .string else { throw node.wrong("a text as '\(name)'") }
    guard let word = Word(rawValue: node.rawString) else { throw node.refused("a known word as '\(name)'") }
    return word
  }

  func integer(_ name: StaticString, atLeast least: Int64 = .min) throws(WireError) -> Int64 {
    let node = try required(name)
    guard node.kind == .integer else { throw node.wrong("an integer as '\(name)'") }
    guard node.rawInteger >= least else { throw node.refused("an integer from \(least) on as '\(name)'") }
    return node.rawInteger
  }

  /// An integer that is a count on this machine, whose words may have 32 bits.
  func count(_ name: StaticString) throws(WireError) -> Int {
    Int(clamping: try integer(name, atLeast: 1))
  }

  /// A boolean; false if it is absent or null.
  func flag(_ name: StaticString) throws(WireError) -> Bool {
    guard let node = try optional(name) else { return false }
    guard node.kind == .yes || node.kind == .no else { throw node.wrong("true or false as '\(name)'") }
    return node.kind == .yes
  }

  /// The elements of an array.
  func elements(_ name: StaticString) throws(WireError) -> Children {
    let node = try required(name)
    guard node.kind == .array else { throw node.wrong("an array as '\(name)'") }
    return node.children
  }
}

extension JSONNode.Kind {
  /// The kind, for messages.
  var word: String {
    switch self {
    case .null: "null"
    case .no, .yes: "boolean"
    case .integer: "integer"
    case .real: "number with a fraction"
    case .string, .name: "text"
    case .array: "array"
    case .object: "object"
    }
  }

  /// The kind with its article.
  var words: String {
    switch self {
    case .null: word
    case .integer, .array, .object: "an " + word
    case .no, .yes, .real, .string, .name: "a " + word
    }
  }
}
