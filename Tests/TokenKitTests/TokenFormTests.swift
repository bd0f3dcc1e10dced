// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SkerryTokenKit

@Suite struct TokenFormTests {
  @Test func `a token has three parts of one spelling`() throws {
    let fixture = try TokenFixture()
    let token = try fixture.signer.sign(header: TokenFixture.header, payload: TokenFixture.payload)
    let parts = token.split(separator: ".").map(String.init)
    let (head, signature) = (parts[0] + "." + parts[1], parts[2])
    #expect(fixture.error(token) == nil)
    for wrong in [
      "", ".", "..", head, head + ".", token + ".", "." + token, token + "=", token + "\n", " " + token,
      head + "." + signature.dropLast(), head + "." + signature + "A", head + "=." + signature,
      token.replacing("-", with: "+").replacing("_", with: "/") + "+",
    ] {
      #expect(fixture.error(wrong) == .malformed || fixture.error(wrong) == .signature, "\(wrong)")
    }
    #expect(fixture.error(parts[0] + "." + parts[1] + "." + Self.code("")) == .signature)
    #expect(fixture.error(parts[0] + "." + parts[1] + "." + Self.code("x")) == .signature)
  }

  static func code(_ text: String) -> String { String(decoding: Base64URL.encode(text.utf8), as: UTF8.self) }

  @Test func `each byte string has one encoding`() {
    for count in 0..<40 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ count) }
      #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
    }
    #expect(Base64URL.decode("_-8".utf8) == [0xFF, 0xEF])
    for wrong in ["A", "AAAAA", "AB", "AAB", "AA=", "AA==", "A+AA", "A/AA", "A A", "AA\n", "\u{E9}A", "AAAA="] {
      #expect(Base64URL.decode(wrong.utf8) == nil, "\(wrong)")
    }
    for first in UInt8.min...UInt8.max {
      let text = Base64URL.encode([first])
      let twins = (UInt8.min...UInt8.max).filter { Base64URL.decode([text[0], $0]) == [first] }
      #expect(twins == [text[1]])
    }
  }

  @Test func `a token has at most 8,192 bytes`() throws {
    let fixture = try TokenFixture()
    let token = String(repeating: "A", count: 8_193)
    #expect(fixture.error(token) == .tooLong)
    #expect(fixture.error(String(token.dropLast())) == .malformed)
    #expect(fixture.error(String(repeating: ".", count: 10 << 20)) == .tooLong)
  }

  @Test(arguments: [
    "{", "}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":01}",
    "{\"a\":+1}", "{\"a\":-}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":1e}", "{\"a\":0x1}", "{\"a\":NaN}", "{\"a\":tru}",
    "{\"a\":TRUE}", "{\"a\":[1,]}", "{\"a\":[1 2]}", "{\"a\":\"}", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}",
    "{\"a\":\"\\u12\"}", "{\"a\":\"\\u12g4\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\"}",
    "{\"a\":\"\\ud800\\u0041\"}", "{\"a\":\"\\ud800x\"}", "{\"a\":\"\\u0000\"}", "\u{FEFF}{}", "{}x", "null", "7",
    "{\"a\":1}//", "{\"a\":/**/1}",
  ])
  func `what is no strict JSON is refused`(text: String) {
    #expect(throws: TokenError.malformed) { try ClaimsParser.object(Array(text.utf8)) }
  }

  @Test func `bytes that are no UTF-8 are refused`() {
    for wrong: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0x80]] {
      let bytes = Array("{\"a\":\"".utf8) + wrong + Array("\"}".utf8)
      #expect(throws: TokenError.malformed) { try ClaimsParser.object(bytes) }
    }
  }

  @Test func `values are read as they are`() throws {
    let text =
      #"{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00","b":-7,"c":1.5,"#
      + #""d":[true,false,null,{}],"e":9223372036854775808}"#
    let object = try ClaimsParser.object(Array(text.utf8))
    #expect(object["a"]?.text == "\"\\/\u{8}\u{C}\n\r\t\u{E9}\u{1F600}")
    #expect(object["b"] == .integer(-7))
    #expect(object["c"] == .otherNumber)
    #expect(object["d"] == .list([.bool(true), .bool(false), .null, .object(ClaimsObject())]))
    #expect(object["e"] == .otherNumber)
    #expect(object["f"] == nil)
  }

  @Test func `depth is bounded`() throws {
    func nested(_ depth: Int) -> [UInt8] {
      Array(("{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}").utf8)
    }
    #expect(throws: Never.self) { try ClaimsParser.object(nested(7)) }
    for depth in [8, 4_000] { #expect(throws: TokenError.malformed) { try ClaimsParser.object(nested(depth)) } }
    let open = Array(String(repeating: "{\"a\":", count: 1_500).utf8)
    #expect(throws: TokenError.malformed) { try ClaimsParser.object(open) }
  }
}
