// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// Reads JSON (RFC 8259) strictly, in one pass whose time and memory grow with the bytes.
///
/// Two readers that understand a message differently are an attack, so all that the RFC leaves to the reader is refused:
/// names given twice (compared after unescaping, by bytes), invalid UTF-8, lone surrogates, a byte order mark, integers
/// beyond 64 bits and doubles beyond the largest. NUL is refused in every text, escaped too, since SQLite and C libraries
/// end a text there. A double nearer to zero than the smallest is read as zero.
package struct JSONReader {
  let bytes: [UInt8]
  var position = 0
  private var tape: [JSONToken] = []
  private let depth: Int

  /// More digits than any double needs written out in full; what is longer is not a number but an attack.
  static let numberBytes = 1_100

  private init(_ bytes: [UInt8], depth: Int) {
    self.bytes = bytes
    self.depth = depth
    tape.reserveCapacity(bytes.count / 16 + 8)
  }

  /// Reads one value and nothing after it.
  ///
  /// - Parameters:
  ///   - limit: the most bytes that are looked at.
  ///   - depth: how many arrays and objects may be open at a time.
  package static func read(
    _ bytes: [UInt8], limit: Int, depth: Int = Limits.jsonDepth
  ) throws(WireError) -> JSONDocument {
    if bytes.count > min(limit, Int(Int32.max)) {
      throw WireError(.tooLarge, at: limit, expected: "at most \(limit) bytes", found: "\(bytes.count)")
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      throw WireError(.malformed, at: 0, expected: "a value", found: "a byte order mark")
    }
    var reader = JSONReader(bytes, depth: depth)
    try reader.value(inside: 0)
    reader.skipSpace()
    if reader.position < bytes.count { throw reader.unexpected("the end of the message") }
    return JSONDocument(bytes: bytes, tape: reader.tape)
  }

  // MARK: values

  private mutating func value(inside open: Int) throws(WireError) {
    skipSpace()
    guard let byte = peek else { throw unexpected("a value") }
    switch byte {
    case UInt8(ascii: "\""): try text(.string)
    case UInt8(ascii: "{"): try object(inside: open)
    case UInt8(ascii: "["): try array(inside: open)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
    case UInt8(ascii: "t"): try word("true", .yes)
    case UInt8(ascii: "f"): try word("false", .no)
    case UInt8(ascii: "n"): try word("null", .null)
    default: throw unexpected("a value")
    }
  }

  private mutating func array(inside open: Int) throws(WireError) {
    let index = try begin(.array, inside: open)
    var count = 0
    if !skip(UInt8(ascii: "]")) {
      repeat {
        try value(inside: open + 1)
        count += 1
      } while skip(UInt8(ascii: ","))
      guard skip(UInt8(ascii: "]")) else { throw unexpected("',' or ']'") }
    }
    tape[index].payload = JSONToken.pair(tape.count, count)
  }

  private mutating func object(inside open: Int) throws(WireError) {
    let index = try begin(.object, inside: open)
    var count = 0
    if !skip(UInt8(ascii: "}")) {
      repeat {
        skipSpace()
        guard peek == UInt8(ascii: "\"") else { throw unexpected("a name in quotes") }
        try text(.name)
        guard skip(UInt8(ascii: ":")) else { throw unexpected("':'") }
        try value(inside: open + 1)
        count += 1
      } while skip(UInt8(ascii: ","))
      guard skip(UInt8(ascii: "}")) else { throw unexpected("',' or '}'") }
    }
    tape[index].payload = JSONToken.pair(tape.count, count)
    if count > 1 { try checkNames(of: index, count: count) }
  }

  private mutating func begin(_ kind: JSONNode.Kind, inside open: Int) throws(WireError) -> Int {
    if open >= depth {
      throw WireError(.tooLarge, at: position, expected: "at most \(depth) levels", found: "one more")
    }
    append(kind, at: position, payload: 0)
    position += 1
    return tape.count - 1
  }

  private mutating func word(_ word: StaticString, _ kind: JSONNode.Kind) throws(WireError) {
    let isThere = word.withUTF8Buffer { bytes[position...].starts(with: $0) }
    if !isThere { throw unexpected("true, false, null or another value") }
    append(kind, at: position, payload: 0)
    position += word.utf8CodeUnitCount
  }

  mutating func append(_ kind: JSONNode.Kind, at start: Int, hasEscape: Bool = false, payload: UInt64) {
    tape.append(JSONToken(kind: kind, hasEscape: hasEscape, start: UInt32(start), payload: payload))
  }

  // MARK: names given twice

  /// Few names are compared each with each, many by a set. Swift's hashing is seeded for each process, so nobody can
  /// choose names that collide.
  private func checkNames(of object: Int, count: Int) throws(WireError) {
    var seen: Set<ArraySlice<UInt8>> = []
    if count > 32 { seen.reserveCapacity(count) }
    var name = object + 1
    while name < tape.count {
      let isNew = count > 32 ? seen.insert(content(name)).inserted : isFirst(name, in: object)
      if !isNew {
        let start = Int(tape[name].start)
        throw WireError(.malformed, at: start, expected: "each name once in an object", found: "one twice")
      }
      name = nextName(name)
    }
  }

  /// Whether no name before this one is the same. The bytes are looked at only when the hints agree.
  private func isFirst(_ name: Int, in object: Int) -> Bool {
    let hint = tape[name].upper
    var other = object + 1
    while other < name {
      let otherHint = tape[other].upper
      if hint == otherHint || hint == JSONText.noHint || otherHint == JSONText.noHint {
        if isSame(other, name) { return false }
      }
      other = nextName(other)
    }
    return true
  }

  private func nextName(_ name: Int) -> Int {
    let value = tape[name + 1]
    return value.kind >= .array ? value.end : name + 2
  }

  private func isSame(_ left: Int, _ right: Int) -> Bool {
    if tape[left].hasEscape || tape[right].hasEscape { return content(left) == content(right) }
    let (first, second) = (Int(tape[left].start), Int(tape[right].start))
    let length = tape[left].end - first
    guard tape[right].end - second == length else { return false }
    for place in 0..<length where bytes[first + place] != bytes[second + place] { return false }
    return true
  }

  private func content(_ index: Int) -> ArraySlice<UInt8> {
    let token = tape[index]
    let range = Int(token.start) + 1..<token.end
    return token.hasEscape ? JSONText.unescaped(bytes[range])[...] : bytes[range]
  }
}

extension JSONReader {
  /// The next byte; nil at the end.
  var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  /// Steps over this byte, and white space before it, if it comes next.
  mutating func skip(_ byte: UInt8) -> Bool {
    skipSpace()
    guard peek == byte else { return false }
    position += 1
    return true
  }

  /// An error at the current byte, whose kind it names.
  func unexpected(_ expected: String) -> WireError {
    WireError(.malformed, at: position, expected: expected, found: JSONText.kind(of: peek))
  }
}
