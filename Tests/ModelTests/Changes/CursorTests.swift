// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import Testing

@Suite("Cursors") struct CursorTests {
  private let person = RowKey("people", "0197a0de-0000-7000-8000-00000000000a")

  private var cursor: Cursor {
    Cursor(
      epoch: "e1", position: 40, head: 42, nonce: "n7", owner: ["r1", "r2"],
      open: [OpenSpace(space: "team:a", after: person, target: 41), OpenSpace(space: "team:b", target: 7)],
      schema: 3, again: PositionRange(after: 20, upTo: 30))
  }

  /// The expected bytes were made by another program.
  @Test func `the bytes are those of the definition`() {
    #expect(
      Hex.text(cursor.encoded)
        == "89026265311828182a626e37826272316272328284667465616d3a616670656f706c6581782430313937613064652d303030302d373030"
        + "302d383030302d303030303030303030303061182984667465616d3a626080070382" + "14181e")
  }

  @Test func `a token from before there were versions of the schema is of the first`() throws {
    let text =
      "87016265311828182a626e37826272316272328284667465616d3a616670656f706c6581782430313937613064652d303030302d373030"
      + "302d383030302d303030303030303030303061182984667465616d3a62608007"
    var before = cursor
    (before.schema, before.again) = (0, nil)
    #expect(try Cursor(encoded: #require(Hex.bytes(text))) == before)
  }

  @Test func `a cursor goes there and back`() throws {
    #expect(try Cursor(encoded: cursor.encoded) == cursor)
    let empty = Cursor(epoch: "", position: 0, head: 0, nonce: "", owner: [])
    #expect(try Cursor(encoded: empty.encoded) == empty)
    var generator = SeededGenerator(seed: 41)
    for _ in 0..<100 {
      let open = (0..<Int.random(in: 0...5, using: &generator)).map { index in
        let key = RowKey("t\(index)", values: [generator.value(), generator.value()])
        return OpenSpace(
          space: SpaceID("\(index)" + generator.text()), after: Bool.random(using: &generator) ? key : nil,
          target: Int64(bitPattern: generator.next()))
      }
      let some = Cursor(
        epoch: generator.text(), position: Int64(bitPattern: generator.next()), head: .max, nonce: generator.text(),
        owner: [ReplicaID(generator.text())], open: open, schema: Int.random(in: 0...9, using: &generator),
        again: Bool.random(using: &generator) ? PositionRange(after: 1, upTo: Int64(bitPattern: generator.next())) : nil
      )
      #expect(try Cursor(encoded: some.encoded) == some)
    }
  }

  @Test func `every truncation and every addition is refused`() {
    let bytes = cursor.encoded
    for length in 0..<bytes.count { #expect(throws: CBORError.self) { try Cursor(encoded: Array(bytes[..<length])) } }
    #expect(throws: CBORError.trailing) { try Cursor(encoded: bytes + [0]) }
  }

  @Test func `a token of another version is refused`() {
    var bytes = cursor.encoded
    bytes[1] = 3
    #expect(throws: CBORError.self) { try Cursor(encoded: bytes) }
  }

  @Test func `no changed byte brings the reader down`() {
    var generator = SeededGenerator(seed: 42)
    for _ in 0..<1_000 {
      var bytes = cursor.encoded
      bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      _ = try? Cursor(encoded: bytes)
    }
  }
}
