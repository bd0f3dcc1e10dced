// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import SkerryWire
import Testing

@Suite("JSON there and back") struct JSONRoundTripTests {
  @Test func `any tree reads back as it was written`() throws {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<80 {
      let tree = generator.tree(depth: 3)
      let bytes = tree.encoded
      #expect(try JSON(parsing: bytes) == tree)
      #expect(try JSON(parsing: bytes).encoded == bytes)
    }
  }

  @Test func `every double reads back with the same bits`() throws {
    var generator = SeededGenerator(seed: 2)
    let numbers = (0..<2_000).map { _ in generator.real() } + [-0.0, 0, 1, -1, 1e15, 1e16, 1e17]
    let bytes = JSON.array(numbers.map { .real($0) }).encoded
    let text = String(decoding: bytes, as: UTF8.self).dropFirst().dropLast()
    #expect(text.split(separator: ",").allSatisfy { $0.contains(".") || $0.contains("e") })
    guard case .array(let read) = try JSON(parsing: bytes) else {
      Issue.record("no array")
      return
    }
    for (number, value) in zip(numbers, read) { #expect(value == .real(number)) }
  }

  @Test func `every integer reads back, and is never a double`() throws {
    var generator = SeededGenerator(seed: 3)
    let numbers = (0..<1_000).map { _ in generator.integer() }
    #expect(try JSON(parsing: JSON.array(numbers.map { .integer($0) }).encoded) == .array(numbers.map { .integer($0) }))
  }

  @Test func `texts are written with as few escapes as JSON allows`() {
    let text = JSON.string("\u{0}\u{1}\u{8}\t\n\u{B}\u{C}\r\u{1F} \"\\/é\u{7F}\u{2028}😀")
    let expected = #""\u0000\u0001\b\t\n\u000b\f\r\u001f \"\\/é"# + "\u{7F}\u{2028}😀\""
    #expect(String(decoding: text.encoded, as: UTF8.self) == expected)
  }

  @Test func `a number that is not finite is written as null`() {
    let numbers: [JSON] = [.real(.nan), .real(.infinity), .real(-.infinity), .real(1)]
    #expect(String(decoding: JSON.array(numbers).encoded, as: UTF8.self) == "[null,null,null,1.0]")
  }

  @Test func `trees are compared by bytes and by the order of their members`() {
    #expect(JSON.string("é") != .string("e\u{301}"))
    #expect(JSON.real(0) != .real(-0.0))
    #expect(JSON.integer(1) != .real(1))
    #expect(JSON.object([.init("a", .null), .init("b", .null)]) != .object([.init("b", .null), .init("a", .null)]))
    #expect(JSON.object([.init("é", .null)]) != .object([.init("e\u{301}", .null)]))
  }
}

extension SeededGenerator {
  fileprivate mutating func tree(depth: Int) -> JSON {
    switch Int.random(in: 0...(depth == 0 ? 4 : 7), using: &self) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &self))
    case 2: return .integer(integer())
    case 3: return .real(real())
    case 4: return .string(text())
    case 5: return .array((0..<Int.random(in: 0...5, using: &self)).map { _ in tree(depth: depth - 1) })
    default:
      var members: [JSON.Member] = []
      for index in 0..<Int.random(in: 0...40, using: &self) where index < 4 || depth == 1 {
        members.append(.init(text() + "\(index)", tree(depth: depth - 1)))
      }
      return .object(members)
    }
  }
}
