// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// The model's small types in their JSON forms, with the name of the member that holds them.
extension JSONWriter {
  mutating func member(_ name: StaticString, _ text: String) {
    self.name(name)
    string(text)
  }

  mutating func member(_ name: StaticString, _ number: Int64) {
    self.name(name)
    integer(number)
  }

  mutating func member(_ name: StaticString, _ id: some ByteText) { member(name, id.text) }

  mutating func member(_ name: StaticString, _ id: MutationID) {
    self.name(name)
    uuid(id.raw)
  }

  mutating func member(_ name: StaticString, _ version: VersionTag) {
    self.name(name)
    uuid(version.raw)
  }

  mutating func member(_ name: StaticString, _ incarnation: Incarnation) {
    self.name(name)
    plain { bytes in
      UUIDText.append(incarnation.tag.raw, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      bytes.append(contentsOf: String(incarnation.index).utf8)
    }
  }

  /// The token is base64url without padding, so that it can go into an address as it is.
  mutating func member(_ name: StaticString, _ cursor: Cursor?) {
    self.name(name)
    guard let cursor else { return null() }
    plain { Base64.append(cursor.encoded, to: &$0, .url) }
  }

  mutating func member(_ name: StaticString, values: [Value]) {
    self.name(name)
    array(values) { $0.value($1) }
  }

  mutating func uuid(_ id: Bytes16) { plain { UUIDText.append(id, to: &$0) } }

  mutating func value(_ value: Value) {
    switch value {
    case .null: null()
    case .integer(let number): integer(number)
    case .real(let number): real(number)
    case .text(let text): string(text)
    case .blob(let content):
      object { writer in
        writer.name("base64")
        writer.plain { Base64.append(content, to: &$0, .standard) }
      }
    }
  }
}

extension JSONNode {
  /// A column's value. True and false are read as 1 and 0, for messages written by hand.
  func value() throws(WireError) -> Value {
    switch kind {
    case .null: return .null
    case .no: return .integer(0)
    case .yes: return .integer(1)
    case .integer: return .integer(rawInteger)
    case .real: return .real(rawReal)
    case .string: return .text(rawString)
    case .object:
      let content = try required("base64")
      guard content.kind == .string, let bytes = Base64.decode(content.content, .standard) else {
        throw content.refused("base64 with padding")
      }
      return .blob(bytes)
    case .array, .name: throw wrong("a value")
    }
  }

  /// The values of a key's columns.
  func keyValues() throws(WireError) -> [Value] {
    guard kind == .array else { throw wrong("an array as 'key'") }
    var values: [Value] = []
    values.reserveCapacity(count)
    for element in children { values.append(try element.value()) }
    return values
  }
}
