// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import Testing

@Suite("Tags and their texts") struct TagTests {
  private let text = "0197a0de-89ab-7cde-8f01-23456789abcd"

  @Test func `a UUID's text gives it back`() throws {
    let id = try #require(MutationID(text))
    #expect(id.description == text)
    #expect(MutationID(bytes: id.raw.bytes) == id)
    #expect(id.tag.description == text)
    #expect(VersionTag(text: text) == id.tag)
    var generator = SeededGenerator(seed: 31)
    for _ in 0..<200 {
      let raw = Bytes16(high: generator.next(), low: generator.next())
      #expect(Bytes16(uuidText: raw.uuidText) == raw)
      #expect(Bytes16(raw.bytes) == raw)
    }
  }

  @Test func `each UUID has one text`() {
    let wrong = [
      "", "0", text.uppercased(), text + "0", String(text.dropLast()), " " + text, "{\(text)}", "urn:uuid:" + text,
      text.replacing("-", with: ""), text.replacing("-", with: "_"), "0197a0de8-9ab-7cde-8f01-23456789abcd",
      "0197a0de-89ab-7cde-8f01-23456789abcg", "0197a0de-89ab-7cde-8f01-23456789abc\u{301}",
      "0197a0de-89ab-7cde-8f01-23456789ab\u{E9}", String(repeating: "-", count: 36),
      "0197A0de-89ab-7cde-8f01-23456789abcd",
    ]
    for text in wrong {
      #expect(MutationID(text) == nil, "\(text)")
      #expect(VersionTag(text: text) == nil, "\(text)")
    }
    #expect(Bytes16([UInt8](repeating: 0, count: 15)) == nil)
    #expect(Bytes16([UInt8](repeating: 0, count: 17)) == nil)
  }

  @Test func `the order is that of the bytes`() {
    let ordered = [(0, 0), (0, 1), (0, .max), (1, 0), (0x8000_0000_0000_0000, 0), (.max, .max)] as [(UInt64, UInt64)]
    for (left, right) in zip(ordered, ordered.dropFirst()) {
      #expect(Bytes16(high: left.0, low: left.1) < Bytes16(high: right.0, low: right.1))
      #expect(!(Bytes16(high: right.0, low: right.1) < Bytes16(high: left.0, low: left.1)))
    }
  }

  @Test func `an incarnation's text and bytes give it back`() throws {
    let tag = try #require(VersionTag(text: text))
    for index in [0, 1, 9, 10, 255, 256, 9_999, .max] as [UInt16] {
      let life = Incarnation(tag: tag, index: index)
      #expect(life.description == "\(text):\(index)")
      #expect(Incarnation(text: life.description) == life)
      #expect(Incarnation(bytes: life.bytes) == life)
      #expect(life.bytes.count == 18)
    }
  }

  @Test func `each incarnation has one text`() {
    let endings = ["", ":", ":00", ":01", ":+1", ":-1", ":65536", ":1 ", ": 1", ":1:1", ":a", ":٣", ":\u{301}1", ";1"]
    for ending in endings { #expect(Incarnation(text: text + ending) == nil, "\(ending)") }
    #expect(Incarnation(text: ":0") == nil)
    #expect(Incarnation(text: text.uppercased() + ":0") == nil)
    #expect(Incarnation(bytes: [UInt8](repeating: 0, count: 17)) == nil)
    #expect(Incarnation(bytes: [UInt8](repeating: 0, count: 19)) == nil)
  }

  @Test func `hexadecimal text has two digits a byte`() {
    #expect(Hex.text([0, 1, 15, 16, 171, 255]) == "00010f10abff")
    #expect(Hex.text([]).isEmpty)
  }
}
