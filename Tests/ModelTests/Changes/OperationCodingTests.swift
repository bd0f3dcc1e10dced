// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import Testing

@Suite("The canonical bytes of operations") struct OperationCodingTests {
  private static let tag = VersionTag(raw: Bytes16(high: 0x0197_A0DE_0000_7000, low: 0x8000_0000_0000_0001))
  private static let base = VersionTag(raw: Bytes16(high: 0x0197_A0DE_0000_7000, low: 0x8000_0000_0000_0002))
  private static let life = Incarnation(tag: tag, index: 258)
  private static let person = RowKey("people", "0197a0de-0000-7000-8000-00000000000a")
  private static let fields = [
    Field("active", 1), Field("name", "Zoë"), Field("photo", .blob([0xFF, 0xD8])), Field("score", 4.5),
  ]

  private let operations = [
    Operation(person, nil, .insert(fields)), Operation(person, life, .set([Field("email", nil)], base: base)),
    Operation(person, life, .set([Field("email", "é")], base: nil)),
    Operation(person, life, .increment("visits", by: -3)),
    Operation(RowKey("pairs", "a", .integer(.min)), life, .delete),
  ]

  private var mutation: Mutation {
    Mutation(id: MutationID(raw: OperationCodingTests.tag.raw), number: 1, operations: operations)
  }

  /// The expected hash was computed by another program.
  @Test func `the hash is that of the definition`() {
    #expect(
      Hex.text(mutation.contentHash) == "dc10750246a316f77af7fd3f256885efde4a7025fe59aa6a001e84d48d68de2f")
  }

  @Test func `operations go there and back`() throws {
    #expect(try Operation.decode(Operation.encode(operations)) == operations)
    #expect(try Operation.decode(Operation.encode([])) == [])
  }

  @Test func `the hash covers the operations and not the envelope`() {
    let again = Mutation(
      id: MutationID(raw: OperationCodingTests.base.raw), number: 99, after: [mutation.id], operations: operations)
    #expect(again.contentHash == mutation.contentHash)
    let turned = Mutation(id: mutation.id, number: 1, operations: operations.reversed())
    #expect(turned.contentHash != mutation.contentHash)
  }

  @Test func `a void mutation has a hash of its own`() {
    let void = Mutation(id: mutation.id, number: 1, operations: operations, isVoid: true)
    #expect(Hex.text(void.contentHash) == "b0b2988b6bbe724bacda5e9e524736de0bc7dae41c46b4213c50e1d35d4e5f13")
    #expect(Mutation(id: mutation.id, number: 1, operations: []).contentHash != void.contentHash)
  }

  @Test func `every truncation and every addition is refused`() {
    let bytes = Operation.encode(operations)
    for length in 0..<bytes.count {
      #expect(throws: CBORError.self) { try Operation.decode(Array(bytes[..<length])) }
    }
    #expect(throws: CBORError.trailing) { try Operation.decode(bytes + [0x80]) }
  }

  @Test func `an unknown kind and an incarnation of another length are refused`() {
    var bytes = Operation.encode([operations[4]])
    bytes[2] = 4
    #expect(throws: CBORError.self) { try Operation.decode(bytes) }
    var writer = CBORWriter()
    writer.array(1)
    writer.array(4)
    writer.integer(3)
    writer.text("t")
    writer.values([1])
    writer.blob([1, 2, 3])
    #expect(throws: CBORError.self) { try Operation.decode(writer.bytes) }
  }

  @Test func `an operation tells what it is`() {
    #expect(operations.map(\.isInsert) == [true, false, false, false, false])
    #expect(operations.map(\.isDelete) == [false, false, false, false, true])
    #expect(operations.map(\.fields.count) == [4, 1, 1, 0, 0])
  }
}
