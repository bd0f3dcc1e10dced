// SPDX-License-Identifier: Apache-2.0

import SkerryTokenKit
import Testing

@Suite struct TokenTests {
  @Test func `what was signed is what is read`() throws {
    let fixture = try TokenFixture()
    let claims = TokenClaims(
      subject: "a\"n\\a \u{1F600}", issuer: TokenFixture.issuer, audience: ["x", "skerry"], expires: 1_000_100_000,
      notBefore: 999_999_000, issuedAt: 999_998_000)
    #expect(try fixture.verifier.verify(fixture.signer.sign(claims), now: TokenFixture.now) == claims)
  }

  @Test func `the vector of RFC 7515 A 1 holds, and with one bit changed it does not`() throws {
    let secret: [UInt8] = [
      3, 35, 53, 75, 43, 15, 165, 188, 131, 126, 6, 101, 119, 123, 166, 143, 90, 179, 40, 230, 240, 84, 201, 40, 169,
      15,
      132, 178, 210, 80, 46, 191, 211, 251, 90, 146, 210, 6, 71, 239, 150, 138, 180, 195, 119, 98, 61, 34, 61, 46, 33,
      114, 5, 46, 79, 8, 192, 205, 154, 245, 103, 208, 128, 163,
    ]
    let signed =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9"
      + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    let fixture = try TokenFixture([.hs256(secret: secret)])
    // It has no subject: to be told so means that the signature held.
    #expect(fixture.error(signed + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") == .subject)
    #expect(fixture.error(signed + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXg") == .signature)
    #expect(fixture.error(signed + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl") == .malformed)
  }

  @Test func `a token counts until its last millisecond, and with leeway a little longer`() throws {
    let strict = try TokenFixture()
    let lenient = try TokenFixture(leeway: 30_000)
    for (now, error) in [(Int64(1_000_099_999), nil), (1_000_100_000, TokenError.expired)] {
      #expect(try strict.error(now: now) == error)
      #expect(try lenient.error(now: now + 30_000) == error)
    }
  }

  @Test func `a token counts from its first millisecond`() throws {
    let payload = String(TokenFixture.payload.dropLast()) + #","nbf":1000000}"#
    let strict = try TokenFixture()
    let lenient = try TokenFixture(leeway: 30_000)
    for (now, error) in [(Int64(1_000_000_000), nil), (999_999_999, TokenError.notYetValid)] {
      #expect(try strict.error(payload: payload, now: now) == error)
      #expect(try lenient.error(payload: payload, now: now - 30_000) == error)
    }
  }

  @Test(arguments: [
    (#"{"iss":"https://id.example","aud":"skerry","exp":1000100}"#, TokenError.subject),
    (#"{"sub":"","iss":"https://id.example","aud":"skerry","exp":1000100}"#, .subject),
    (#"{"sub":7,"iss":"https://id.example","aud":"skerry","exp":1000100}"#, .subject),
    (#"{"sub":"a\u007f","iss":"https://id.example","aud":"skerry","exp":1000100}"#, .subject),
    (#"{"sub":"a\u0085","iss":"https://id.example","aud":"skerry","exp":1000100}"#, .subject),
    (#"{"sub":"a\n","iss":"https://id.example","aud":"skerry","exp":1000100}"#, .subject),
    (#"{"sub":"a\u0000","iss":"https://id.example","aud":"skerry","exp":1000100}"#, .malformed),
    (#"{"sub":"ana","aud":"skerry","exp":1000100}"#, .issuer),
    (#"{"sub":"ana","iss":"https://id.example/","aud":"skerry","exp":1000100}"#, .issuer),
    (#"{"sub":"ana","iss":["https://id.example"],"aud":"skerry","exp":1000100}"#, .issuer),
    (#"{"sub":"ana","iss":"https://id.example","exp":1000100}"#, .audience),
    (#"{"sub":"ana","iss":"https://id.example","aud":"Skerry","exp":1000100}"#, .audience),
    (#"{"sub":"ana","iss":"https://id.example","aud":"s\u212aerry","exp":1000100}"#, .audience),
    (#"{"sub":"ana","iss":"https://id.example","aud":["other"],"exp":1000100}"#, .audience),
    (#"{"sub":"ana","iss":"https://id.example","aud":[],"exp":1000100}"#, .audience),
    (#"{"sub":"ana","iss":"https://id.example","aud":["skerry",7],"exp":1000100}"#, .audience),
    (#"{"sub":"ana","iss":"https://id.example","aud":{"skerry":1},"exp":1000100}"#, .audience),
    (#"{"sub":"ana","iss":"https://id.example","aud":"skerry"}"#, .claim("exp")),
    (#"{"sub":"ana","iss":"https://id.example","aud":"skerry","exp":"1000100"}"#, .claim("exp")),
    (#"{"sub":"ana","iss":"https://id.example","aud":"skerry","exp":1000100.5}"#, .claim("exp")),
    (#"{"sub":"ana","iss":"https://id.example","aud":"skerry","exp":1e400}"#, .claim("exp")),
    (#"{"sub":"ana","iss":"https://id.example","aud":"skerry","exp":-1}"#, .claim("exp")),
    (#"{"sub":"ana","iss":"https://id.example","aud":"skerry","exp":9223372036854775807}"#, .claim("exp")),
    (#"{"sub":"ana","iss":"https://id.example","aud":"skerry","exp":92233720368547758070}"#, .claim("exp")),
    (#"{"sub":"ana","iss":"https://id.example","aud":"skerry","exp":null}"#, .claim("exp")),
    (#"{"sub":"ana","iss":"https://id.example","aud":"skerry","exp":1000100,"nbf":"1"}"#, .claim("nbf")),
    (#"{"sub":"ana","iss":"https://id.example","aud":"skerry","exp":1000100,"iat":true}"#, .claim("iat")),
  ])
  func `a claim that is missing or wrong is refused`(payload: String, error: TokenError) throws {
    #expect(try TokenFixture().error(payload: payload) == error)
  }

  @Test(arguments: [200, 201])
  func `a subject has at most 200 bytes`(count: Int) throws {
    let payload = TokenFixture.payload.replacing("ana", with: String(repeating: "a", count: count))
    #expect(try TokenFixture().error(payload: payload) == (count > 200 ? .subject : nil))
  }

  @Test(arguments: [
    #"{"sub":"ana","sub":"bob","iss":"https://id.example","aud":"skerry","exp":1000100}"#,
    #"{"sub":"ana","s\u0075b":"bob","iss":"https://id.example","aud":"skerry","exp":1000100}"#,
    #"{"sub":"ana","iss":"https://id.example","aud":"skerry","exp":1000100,"x":{"a":1,"a":2}}"#,
  ])
  func `a claim that stands twice is refused, however it is spelt`(payload: String) throws {
    #expect(try TokenFixture().error(payload: payload) == .malformed)
  }

  @Test func `twins by Unicode are not each other's duplicates`() throws {
    let payload = String(TokenFixture.payload.dropLast()) + #","\u00e9":1,"e\u0301":2,"K":1,"\u212a":2}"#
    #expect(try TokenFixture().error(payload: payload) == nil)
  }

  @Test(arguments: [
    (#"{"alg":"none"}"#, TokenError.algorithm), (#"{"alg":"None"}"#, .algorithm), (#"{"alg":""}"#, .algorithm),
    ("{}", .algorithm), (#"{"alg":null}"#, .algorithm), (#"{"alg":["HS256"]}"#, .algorithm),
    (#"{"alg":"hs256"}"#, .algorithm), (#"{"alg":"HS384"}"#, .algorithm), (#"{"alg":"ES256"}"#, .algorithm),
    (#"{"alg":"RS256"}"#, .algorithm), (#"{"alg":"HS256","alg":"none"}"#, .malformed),
    (#"{"alg":"HS256","crit":["exp"],"exp":1}"#, .header), (#"{"alg":"HS256","crit":[]}"#, .header),
    (#"{"alg":"HS256","typ":"JOSE"}"#, .header), (#"{"alg":"HS256","typ":1}"#, .header),
    (#"{"alg":"HS256","kid":"x"}"#, .unknownKey), (#"{"alg":"HS256","kid":""}"#, .unknownKey),
    (#"{"alg":"HS256","kid":"../../etc/passwd"}"#, .unknownKey), (#"{"alg":"HS256","kid":7}"#, .malformed),
    ("[]", .malformed), ("", .malformed), ("{}{}", .malformed),
  ])
  func `a header that asks for anything else is refused`(header: String, error: TokenError) throws {
    #expect(try TokenFixture().error(header: header) == error)
  }

  @Test(arguments: [
    #"{"alg":"HS256"}"#, #"{"alg":"HS256","typ":"jwt"}"#, #" { "typ" : "JWT" , "alg" : "HS256" } "#,
    #"{"alg":"HS256","jku":"https://evil.example","jwk":{"kty":"oct"},"x5u":"https://evil.example"}"#,
  ])
  func `a header may say more, and nobody fetches it`(header: String) throws {
    #expect(try TokenFixture().error(header: header) == nil)
  }

  @Test func `an error is safe to show`() throws {
    let fixture = try TokenFixture()
    let token = try fixture.signer.sign(header: TokenFixture.header, payload: #"{"sub":"secret-person"}"#)
    let error = try #require(fixture.error(token))
    #expect(!"\(error) \(String(reflecting: error))".contains("secret-person"))
    #expect(TokenError.expired.isCuredByRenewal)
    #expect(!TokenError.signature.isCuredByRenewal)
  }
}
