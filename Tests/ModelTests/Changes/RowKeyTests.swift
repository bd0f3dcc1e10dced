// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import Testing

@Suite("Values and keys") struct RowKeyTests {
  @Test func `values are equal by class and bytes`() {
    let different: [Value] = [
      nil, 0, 0.0, .real(-0.0), "", "0", .blob([]), .blob([48]), 1, 1.0, "é", "e\u{301}", "K", "\u{212A}", .real(.nan),
    ]
    for (place, left) in different.enumerated() {
      for (other, right) in different.enumerated() { #expect((left == right) == (place == other)) }
    }
    #expect(Set(different).count == different.count)
  }

  @Test func `a key gives back its values`() throws {
    var generator = SeededGenerator(seed: 51)
    for _ in 0..<100 {
      let values = (0..<Int.random(in: 0...4, using: &generator)).map { _ in generator.value() }
      let key = RowKey("t", values: values)
      #expect(key.values == values)
      #expect(try RowKey(table: "t", bytes: key.bytes) == key)
    }
    #expect(RowKey("t", 1, "a") == RowKey("t", values: [1, "a"]))
  }

  @Test func `bytes that are no list of values make no key`() {
    for hex in ["", "00", "81", "8100ff", "9f00ff", "811800"] {
      #expect(throws: CBORError.self) { try RowKey(table: "t", bytes: bytes(hex)) }
    }
  }

  @Test func `keys are ordered by table and then by bytes`() {
    let keys = [
      RowKey("a", "z"), RowKey("b", 1), RowKey("b", 2), RowKey("b", "a"), RowKey("b", "b"), RowKey("b", "aa"),
    ]
    #expect(keys.reversed().sorted() == keys)
  }

  @Test func `a key reads like an address`() {
    #expect(RowKey("pairs", "a", 2, nil, .blob([10])).description == "pairs/a,2,null,x0a")
  }

  @Test func `a value says what it counts against the limits`() {
    let values: [Value] = [nil, 1, 1.5, "é", .blob([1, 2, 3])]
    #expect(values.map(\.byteCount) == [1, 9, 9, 7, 8])
    #expect(values.map(\.className) == ["null", "integer", "real", "text", "blob"])
    #expect(values.map(\.isNull) == [true, false, false, false, false])
    #expect(values.compactMap(\.integer) == [1])
    #expect(values.compactMap(\.text) == ["é"])
  }
}
