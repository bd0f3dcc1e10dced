// SPDX-License-Identifier: Apache-2.0

/// Writes JSON without white space, straight into bytes. It sees to commas; the caller closes what it opens.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  // MARK: containers

  package mutating func object(_ members: (inout JSONWriter) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    members(&self)
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  package mutating func array<Items: Sequence>(_ items: Items, _ write: (inout JSONWriter, Items.Element) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "["))
    needsComma = false
    for item in items { write(&self, item) }
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// A member's name, which needs no escape; its value comes next.
  package mutating func name(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A member's name with its quotes and colon, as this writer would write it; its value comes next.
  mutating func name(encoded: [UInt8]) {
    separate()
    bytes.append(contentsOf: encoded)
    needsComma = false
  }

  /// A member's name; its value comes next.
  package mutating func name(_ name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  // MARK: values

  package mutating func null() {
    separate()
    raw("null")
  }

  package mutating func bool(_ value: Bool) {
    separate()
    raw(value ? "true" : "false")
  }

  package mutating func integer(_ value: Int64) {
    separate()
    raw(String(value))
  }

  /// The shortest form that reads back as the same bits, with a point or an exponent, which tells it from an integer.
  ///
  /// JSON has no form for a number that is not finite: it becomes null. What has passed a check is always finite.
  package mutating func real(_ value: Double) {
    guard value.isFinite else { return null() }
    separate()
    raw(value.description)
  }

  package mutating func string(_ text: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { escape($0) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// A text that `write` appends, and that needs no escape.
  mutating func plain(_ write: (inout [UInt8]) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    write(&bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  package mutating func json(_ value: JSON) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .real(let value): real(value)
    case .string(let value): string(value)
    case .array(let elements): array(elements) { $0.json($1) }
    case .object(let members):
      object { writer in
        for member in members {
          writer.name(member.name)
          writer.json(member.value)
        }
      }
    }
  }

  // MARK: bytes

  private mutating func raw(_ text: String) {
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  /// Copies the runs between what must be escaped.
  private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
    var start = 0
    for (index, byte) in text.enumerated() where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    {
      bytes.append(contentsOf: text[start..<index])
      start = index + 1
      bytes.append(UInt8(ascii: "\\"))
      switch byte {
      case 0x08: bytes.append(UInt8(ascii: "b"))
      case 0x09: bytes.append(UInt8(ascii: "t"))
      case 0x0A: bytes.append(UInt8(ascii: "n"))
      case 0x0C: bytes.append(UInt8(ascii: "f"))
      case 0x0D: bytes.append(UInt8(ascii: "r"))
      case 0x00..<0x20:
        raw("u00")
        bytes.append(HexDigits.lower(byte >> 4))
        bytes.append(HexDigits.lower(byte & 15))
      default: bytes.append(byte)
      }
    }
    bytes.append(contentsOf: text[start...])
  }
}
