// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import Testing

@Suite("Deterministic CBOR") struct CBORTests {
  /// RFC 8949, appendix A, as far as values go, and the corners of half and single precision.
  static let vectors: [(hex: String, value: Value)] = [
    ("00", 0), ("01", 1), ("0a", 10), ("17", 23), ("1818", 24), ("1819", 25), ("1864", 100), ("1903e8", 1000),
    ("1a000f4240", 1_000_000), ("1b000000e8d4a51000", 1_000_000_000_000), ("1b7fffffffffffffff", .integer(.max)),
    ("20", -1), ("29", -10), ("3863", -100), ("3903e7", -1000), ("3b7fffffffffffffff", .integer(.min)),
    ("18ff", 255), ("190100", 256), ("19ffff", 65_535), ("1a00010000", 65_536), ("1affffffff", 4_294_967_295),
    ("1b0000000100000000", 4_294_967_296), ("37", -24), ("3818", -25), ("38ff", -256), ("390100", -257),
    ("f90000", 0.0), ("f98000", .real(-0.0)), ("f93c00", 1.0), ("fb3ff199999999999a", 1.1), ("f93e00", 1.5),
    ("f97bff", 65504.0), ("fa47c35000", 100000.0), ("fa7f7fffff", .real(Double(Float.greatestFiniteMagnitude))),
    ("fb7e37e43c8800759c", 1.0e+300), ("f90001", 5.960464477539063e-8), ("f90400", 0.00006103515625), ("f9c400", -4.0),
    ("fbc010666666666666", -4.1), ("f903ff", 6.097555160522461e-05), ("fa33000000", 2.98023223876953125e-08),
    ("fa477fe100", 65505.0), ("fa00000001", .real(Double(Float.leastNonzeroMagnitude))),
    ("fb0000000000000001", .real(.leastNonzeroMagnitude)), ("fb7fefffffffffffff", .real(.greatestFiniteMagnitude)),
    ("f6", nil), ("40", .blob([])), ("4401020304", .blob([1, 2, 3, 4])), ("60", ""), ("6161", "a"),
    ("6449455446", "IETF"),
    ("62225c", "\"\\"), ("62c3bc", "\u{FC}"), ("63e6b0b4", "\u{6C34}"), ("64f0908591", "\u{10151}"),
  ]

  @Test(arguments: vectors)
  func `the RFC's examples are written and read`(hex: String, value: Value) throws {
    var writer = CBORWriter()
    writer.value(value)
    #expect(Hex.text(writer.bytes) == hex)
    var reader = CBORReader(bytes(hex))
    #expect(try reader.value() == value)
    try reader.end()
  }

  @Test func `arrays, maps and booleans are written and read`() throws {
    var writer = CBORWriter()
    writer.array(0)
    writer.array(3)
    for number in 1...3 as ClosedRange<Int64> { writer.integer(number) }
    writer.map(1)
    writer.text("a")
    writer.bool(true)
    writer.bool(false)
    writer.array(25)
    #expect(Hex.text(writer.bytes) == "8083010203a16161f5f49819")
    writer.raw(bytes("0101"))
    var reader = CBORReader(Array(writer.bytes.dropLast(4)))
    #expect(try reader.array() == 0)
    try reader.array(of: 3)
    for number in 1...3 as ClosedRange<Int64> { #expect(try reader.integer() == number) }
    #expect(try reader.map() == 1)
    #expect(try reader.text() == "a")
    let flags = [try reader.bool(), try reader.bool()]
    #expect(flags == [true, false])
    try reader.end()
  }

  /// Other encodings of values that have one already, and what no value is.
  static let refused: [(hex: String, why: CBORError?)] = [
    ("1800", .notShortest), ("1817", .notShortest), ("190000", .notShortest), ("1900ff", .notShortest),
    ("1a00000000", .notShortest), ("1a0000ffff", .notShortest), ("1b0000000000000000", .notShortest),
    ("1b00000000ffffffff", .notShortest), ("3817", .notShortest), ("3900ff", .notShortest), ("5800", .notShortest),
    ("780161", .notShortest), ("5900ff", .notShortest), ("fa3f800000", .notShortest),
    ("fb3ff0000000000000", .notShortest),
    ("fa00000000", .notShortest), ("fb8000000000000000", .notShortest), ("fb3fb99999a0000000", .notShortest),
    ("fa33800000", .notShortest), ("fb36a0000000000000", .notShortest), ("f97c00", nil), ("f9fc00", nil),
    ("f97e00", nil),
    ("f97c01", nil), ("fa7f800000", nil), ("fa7fc00000", nil), ("fb7ff0000000000000", nil), ("fb7ff8000000000000", nil),
    ("1b8000000000000000", nil), ("1bffffffffffffffff", nil), ("3b8000000000000000", nil), ("3bffffffffffffffff", nil),
    ("5fff", nil), ("7fff", nil), ("5f4101ff", nil), ("7f6161ff", nil), ("9fff", nil), ("80", nil), ("a0", nil),
    ("c000", nil),
    ("c1fb41d452d9ea07ae14", nil), ("f4", nil), ("f5", nil), ("f7", nil), ("e0", nil), ("f0", nil), ("f818", nil),
    ("f8ff", nil), ("f816", nil), ("ff", nil), ("1c", nil), ("1d", nil), ("1e", nil), ("1f", nil),
    ("61ff", .invalidText),
    ("62c328", .invalidText), ("63eda080", .invalidText), ("62c080", .invalidText), ("", .truncated),
    ("18", .truncated),
    ("19ff", .truncated), ("1affffff", .truncated), ("1bffffffffffffff", .truncated), ("41", .truncated),
    ("6261", .truncated),
    ("5affffffff", .truncated), ("7bffffffffffffffff", .truncated), ("5b7fffffffffffffff", .truncated),
    ("f9", .truncated),
    ("f93c", .truncated), ("fa47c350", .truncated), ("fb7e37e43c880075", .truncated),
  ]

  @Test(arguments: refused)
  func `what is not the one form of a value is refused`(hex: String, why: CBORError?) {
    let error = #expect(throws: CBORError.self) {
      var reader = CBORReader(bytes(hex))
      _ = try reader.value()
    }
    if let why { #expect(error == why) }
  }

  @Test(arguments: ["9b7fffffffffffffff", "9affffffff", "9a00010000", "9901"])
  func `a length that the bytes cannot hold is refused before anything is made for it`(hex: String) {
    #expect(throws: CBORError.truncated) {
      var reader = CBORReader(bytes(hex))
      _ = try reader.values()
    }
    #expect(throws: CBORError.truncated) {
      var reader = CBORReader(bytes(hex))
      _ = try reader.array()
    }
  }

  @Test func `what follows the end is refused`() throws {
    var reader = CBORReader([0x01, 0x02])
    _ = try reader.value()
    #expect(!reader.isAtEnd)
    #expect(throws: CBORError.trailing) { try reader.end() }
  }

  @Test func `the wrong type is refused by name`() {
    #expect(throws: CBORError.self) {
      var reader = CBORReader([0x60])
      _ = try reader.integer()
    }
    #expect(throws: CBORError.self) {
      var reader = CBORReader([0x40])
      _ = try reader.text()
    }
    #expect(throws: CBORError.self) {
      var reader = CBORReader([0x82, 0, 0])
      try reader.array(of: 3)
    }
    #expect(throws: CBORError.self) {
      var reader = CBORReader([0xF6])
      _ = try reader.bool()
    }
  }

  @Test func `a null is taken only where there is one`() throws {
    var reader = CBORReader([0xF6, 0x00])
    let answers = [reader.isNull(), reader.isNull()]
    #expect(answers == [true, false])
    #expect(try reader.integer() == 0)
    let atEnd = reader.isNull()
    #expect(!atEnd)
  }

  @Test func `any list of values goes there and back, and has one encoding`() throws {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<300 {
      let values = (0..<Int.random(in: 0...30, using: &generator)).map { _ in generator.value() }
      var writer = CBORWriter()
      writer.values(values)
      var reader = CBORReader(writer.bytes)
      let read = try reader.values()
      try reader.end()
      #expect(read == values)
      var again = CBORWriter()
      again.values(read)
      #expect(again.bytes == writer.bytes)
    }
  }

  @Test func `every half-precision number keeps its bits`() throws {
    for bits in stride(from: UInt16(0), through: 0xFFFF, by: 7) where bits >> 10 & 31 != 31 {
      let encoded = [0xF9, UInt8(bits >> 8), UInt8(bits & 255)]
      var reader = CBORReader(encoded)
      var writer = CBORWriter()
      writer.value(try reader.value())
      #expect(writer.bytes == encoded)
    }
  }

  @Test func `every truncation of a list is refused`() throws {
    var writer = CBORWriter()
    writer.values([1, 300, -70_000, 1.1, 1.5, "four", .blob([5]), nil])
    for length in 0..<writer.bytes.count {
      #expect(throws: CBORError.self) {
        var reader = CBORReader(Array(writer.bytes[..<length]))
        _ = try reader.values()
      }
    }
  }
}
