// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryWire
import Testing

@Suite("The JSON reader") struct JSONReaderTests {
  /// What is refused, with the byte at which reading stops.
  static let refused: [(text: String, offset: Int)] = [
    ("", 0), ("   ", 3), ("nul", 0), ("nulL", 0), ("True", 0), ("truetrue", 4), ("'a'", 0), ("\u{FEFF}1", 0),
    ("\u{A0}1", 0),
    ("// x\n1", 0), ("/**/1", 0), ("1 // x", 2), ("1 2", 2), ("{}{}", 2), ("[]]", 2), ("[", 1), ("[1", 2), ("[1,", 3),
    ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3), ("[1;2]", 2), ("{", 1), ("{\"a\"", 4), ("{\"a\":", 5), ("{\"a\":1", 6),
    ("{\"a\":1,", 7), ("{\"a\":1,}", 7), ("{,}", 1), ("{a:1}", 1), ("{1:1}", 1), ("{\"a\" 1}", 5), ("{\"a\"::1}", 5),
    ("{\"a\":}", 5), ("{\"a\":1 \"b\":2}", 7), ("[1}", 2), ("{\"a\":1]", 6), ("\u{0B}1", 0), ("1\u{0}", 1),
    // numbers
    ("-", 1), ("+1", 0), ("01", 0), ("-01", 1), ("00", 0), ("1.", 2), (".5", 0), ("-.5", 1), ("1.e5", 2), ("1e", 2),
    ("1e+", 3), ("1E-", 3), ("1e5.5", 3), ("0x10", 1), ("1_000", 1), ("1a", 1), ("--1", 1), ("-a", 1), ("NaN", 0),
    ("nan", 0), ("Infinity", 0), ("-Infinity", 1), ("inf", 0), ("1e999", 0), ("-1e999", 0), ("1.8e308", 0),
    ("9223372036854775808", 0), ("-9223372036854775809", 1), ("18446744073709551616", 0),
    ("99999999999999999999999", 0),
    // texts
    ("\"", 1), ("\"a", 2), ("\"\\", 2), ("\"\\\"", 3), ("\"\\x\"", 2), ("\"\\U0041\"", 2), ("\"\\u12\"", 5),
    ("\"\\u12g4\"", 5), ("\"\\u+123\"", 3), ("\"\\u 123\"", 3), ("\"\t\"", 1), ("\"\n\"", 1), ("\"\u{1F}\"", 1),
    ("\"\u{0}\"", 1), ("\"\\u0000\"", 1), ("\"a\\u0000\"", 2), ("\"\\ud800\"", 7), ("\"\\ud800x\"", 7),
    ("\"\\ud800\\n\"", 8), ("\"\\ud800\\u0041\"", 13), ("\"\\ud800\\ud800\"", 13), ("\"\\udc00\"", 7),
    ("\"\\udc00\\ud800\"", 7), ("\"\\uDFFF\"", 7), ("{\"\\ud800\":1}", 8),
  ]

  @Test(arguments: refused)
  func `what is not strict JSON is refused where it goes wrong`(text: String, offset: Int) {
    #expect(throws: WireError.self) { try JSON(parsing: Array(text.utf8)) }
    let error = failure(Array(text.utf8))
    #expect(error?.code == .malformed)
    #expect(error?.offset == offset, "\(String(describing: error))")
  }

  /// Sequences that are no UTF-8: continuations alone, cut off, too long, surrogates, beyond the last plane.
  static let notUTF8: [[UInt8]] = [
    [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x22], [0xC3, 0x28], [0xE0, 0x80, 0x80],
    [0xE0, 0x9F, 0xBF],
    [0xE1, 0x80], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
    [0xF0, 0x80, 0x80, 0x80],
    [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF1, 0x80, 0x80, 0x28], [0xF4, 0x90, 0x80, 0x80],
    [0xF5, 0x80, 0x80, 0x80],
    [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF],
  ]

  @Test(arguments: notUTF8)
  func `invalid UTF-8 is refused, in names too`(bytes: [UInt8]) {
    let quote = UInt8(ascii: "\"")
    let text = [quote, UInt8(ascii: "a")] + bytes + [quote]
    #expect(failure(text)?.offset == 2)
    #expect(failure([UInt8(ascii: "{")] + text + Array(":1}".utf8))?.offset == 3)
    #expect(failure([quote] + bytes) != nil)
    #expect(failure(bytes) != nil)
  }

  @Test func `duplicate keys are refused, escaped ones too`() {
    let texts = [
      #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":1}"#, #"{"\u0061":1,"a":1}"#, #"{"\u0061":1,"\u0061":2}"#, #"{"":1,"":2}"#,
      #"{"a":1,"b":2,"c":3,"a":4}"#, #"[{"x":{"k":[],"k":[]}}]"#, #"{"é":1,"\u00e9":2}"#, #"{"/":1,"\/":2}"#,
      #"{"😀":1,"\ud83d\ude00":2}"#,
    ]
    for text in texts { #expect(failure(Array(text.utf8))?.found == "one twice", "\(text)") }
    #expect(failure(Array(texts[0].utf8))?.offset == 7)
  }

  @Test(arguments: [2, 8, 31, 32, 33, 34, 100, 1_000])
  func `a duplicate is found among any number of keys, and none is imagined`(count: Int) throws {
    let names = (0..<count).map { "n\($0 % 7)x\($0)x\($0 % 3)" }
    func object(_ names: [String]) -> [UInt8] {
      Array(("{" + names.map { "\"\($0)\":[{}]" }.joined(separator: ",") + "}").utf8)
    }
    #expect(try JSONReader.read(object(names), limit: 1 << 20).root.count == count)
    for place in [0, count / 2, count - 1] {
      #expect(failure(object(names + [names[place]]))?.found == "one twice")
      #expect(failure(object([names[place]] + names))?.found == "one twice")
      let escaped = "\\u006e" + names[place].dropFirst()
      #expect(failure(object(names + [escaped]))?.found == "one twice")
    }
  }

  @Test func `keys that only look alike are two keys`() throws {
    let text = "{\"\u{212A}\":1,\"K\":2,\"é\":3,\"e\u{301}\":4}"
    let json = try JSON(parsing: Array(text.utf8))
    #expect(json["K"] == .integer(2))
    #expect(json["\u{212A}"] == .integer(1))
    #expect(json["é"] == .integer(3))
    #expect(json["e\u{301}"] == .integer(4))
    #expect(json["k"] == nil)
  }

  @Test func `depth is bounded, and the bound itself is allowed`() throws {
    func nested(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    func objects(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)).utf8)
    }
    _ = try JSON(parsing: nested(Limits.jsonDepth))
    _ = try JSON(parsing: objects(Limits.jsonDepth))
    #expect(failure(nested(Limits.jsonDepth + 1))?.code == .tooLarge)
    #expect(failure(objects(Limits.jsonDepth + 1))?.code == .tooLarge)
    #expect(failure(Array(repeating: UInt8(ascii: "["), count: 100_000))?.code == .tooLarge)
    _ = try JSON(parsing: Array("[[],[],{\"a\":[]}]".utf8), depth: 3)
  }

  @Test func `size is bounded before anything is read`() throws {
    _ = try JSON(parsing: Array("[1]".utf8), limit: 3)
    #expect(failure(Array("[1 ]".utf8), limit: 3)?.code == .tooLarge)
    #expect(failure(Array("nonsense".utf8), limit: 3)?.code == .tooLarge)
  }

  @Test func `a number longer than any double needs is refused, and one as long is read`() throws {
    let longest = "0." + String(repeating: "0", count: 323) + "49406564584124654417656879286822137236505980"
    #expect(try JSON(parsing: Array(longest.utf8)) == .real(.leastNonzeroMagnitude))
    #expect(failure(Array(("0." + String(repeating: "1", count: 2_000)).utf8))?.code == .malformed)
    #expect(failure(Array(String(repeating: "1", count: 2_000).utf8))?.code == .malformed)
  }

  static let numbers: [(text: String, value: JSON)] = [
    ("0", .integer(0)), ("-0", .integer(0)), ("-1", .integer(-1)), ("9223372036854775807", .integer(.max)),
    ("-9223372036854775808", .integer(.min)), ("9007199254740993", .integer(9_007_199_254_740_993)),
    ("1.0", .real(1)), ("-0.0", .real(-0.0)), ("-0e0", .real(-0.0)), ("1e0", .real(1)), ("1E+2", .real(100)),
    ("1e-2", .real(0.01)), ("0.1", .real(0.1)), ("1e308", .real(1e308)), ("5e-324", .real(.leastNonzeroMagnitude)),
    ("1e-400", .real(0)),
    ("2.225073858507201e-308", .real(.leastNormalMagnitude.nextDown)),
    ("1.7976931348623157e308", .real(.greatestFiniteMagnitude)),
    ("9007199254740993.0", .real(9_007_199_254_740_992)),
    ("123456789012345678901234567890.0", .real(1.2345678901234568e29)),
  ]

  @Test(arguments: numbers)
  func `numbers keep their kind and their value`(text: String, value: JSON) throws {
    #expect(try JSON(parsing: Array(text.utf8)) == value)
    #expect(try JSON(parsing: Array(" [ \(text) ] ".utf8)) == .array([value]))
  }

  @Test func `escapes are read as what they stand for`() throws {
    let text = #""\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00\uFFFF""#
    let expected = "\"\\/\u{8}\u{C}\n\r\tAé€😀\u{FFFF}"
    #expect(try JSON(parsing: Array(text.utf8)) == .string(expected))
    #expect(try JSON(parsing: Array(#"{"\u0061\n":"\u007f"}"#.utf8)) == .object([.init("a\n", .string("\u{7F}"))]))
  }

  @Test func `white space may stand between tokens and nowhere else`() throws {
    let json = try JSON(parsing: Array(" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } }\n".utf8))
    #expect(json == .object([.init("a", .array([.integer(1), .integer(2)])), .init("b", .object([]))]))
    #expect(String(decoding: json.encoded, as: UTF8.self) == #"{"a":[1,2],"b":{}}"#)
  }

  @Test func `an error names kinds and never repeats the message`() {
    let secret = "Zaphod"
    let texts = [
      "{\"a\":\"\(secret)\"", "[\"\(secret)\" \"\(secret)\"]", "{\"\(secret)\":1,\"\(secret)\":2}", "[\(secret)]",
      "{\"\(secret)\" \"\(secret)\"}", "\"\(secret)\\\(secret)\"",
    ]
    for text in texts {
      let error = failure(Array(text.utf8))
      #expect(error != nil)
      #expect(error.map { !$0.description.contains(secret) && $0.description.hasPrefix("message at byte ") } == true)
    }
  }

  private func failure(_ bytes: [UInt8], limit: Int = Limits.messageBytes) -> WireError? {
    do {
      _ = try JSON(parsing: bytes, limit: limit)
      return nil
    } catch {
      return error
    }
  }
}
