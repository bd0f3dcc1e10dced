// SPDX-License-Identifier: Apache-2.0

import SkerryTokenKit
import Testing

@Suite struct TokenKeyTests {
  static let publicKey = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdBc2pKWR9Qyi2qh0stkaBZ/AtIaG
    hdibR2prvmJWJjeLh3MHYdkav3ay9JS2xbJP2/tmJRvkBUxejaj3w9JLZw==
    -----END PUBLIC KEY-----
    """
  static let signed =
    "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImUxIn0"
    + ".eyJzdWIiOiJhbmEiLCJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJza2VycnkiLCJleHAiOjIwMDAwMDAwMDB9"
  static let signature = "ztqONIPNBMoisnFIpPCgtw5alr4efrcRsQdoJcgEBh8uScXpJ22Pswph4jtyFMZFmcrj2_CHJzNO06PkjvtScw"
  static let zeros = String(repeating: "A", count: 43)

  @Test func `a secret shorter than its hash is refused`() {
    let short = [UInt8](repeating: 7, count: 31)
    #expect(throws: TokenKeyError.weakSecret(minimumBytes: 32)) { try TokenKey.hs256(secret: short) }
    #expect(throws: TokenKeyError.weakSecret(minimumBytes: 32)) { try TokenSigner(secret: short) }
    #expect(throws: Never.self) { try TokenKey.hs256(secret: short + [7]) }
  }

  @Test func `keys are told apart by their ids, byte by byte`() throws {
    func key(_ id: String?, _ byte: UInt8) throws -> TokenKey {
      try .hs256(id: id, secret: [UInt8](repeating: byte, count: 32))
    }
    let ids = [nil, "a", "A", "\u{E9}", "e\u{301}", "K", "\u{212A}"]
    let keys = try zip(ids, UInt8(1)...).map { try key($0, $1) }
    let fixture = try TokenFixture(keys)
    for (id, byte) in zip(ids, UInt8(1)...) {
      let signer = try TokenSigner(id: id, secret: [UInt8](repeating: byte, count: 32))
      let claims = TokenClaims(
        subject: "ana", issuer: TokenFixture.issuer, audience: ["skerry"], expires: 1_000_100_000)
      #expect(fixture.error(try signer.sign(claims)) == nil)
    }
    #expect(throws: TokenKeyError.duplicateKeyID) { try TokenFixture([key("a", 1), key("a", 2)]) }
    #expect(throws: TokenKeyError.duplicateKeyID) { try TokenFixture([key(nil, 1), key(nil, 2)]) }
    #expect(throws: TokenKeyError.noKeys) { try TokenFixture([]) }
    for leeway in [-1, 60_001] as [Int64] {
      #expect(throws: TokenKeyError.leeway) { try TokenFixture(leeway: leeway) }
    }
  }

  @Test func `a public key verifies what its private one signed`() throws {
    let fixture = try TokenFixture([.es256(id: "e1", publicKeyPEM: Self.publicKey)])
    let claims = try fixture.verifier.verify(Self.signed + "." + Self.signature, now: 1_999_999_999_999)
    #expect(claims.subject == "ana")
    #expect(fixture.error(Self.signed + "." + Self.signature, now: 2_000_000_000_000) == .expired)
  }

  @Test func `the vector of RFC 7515 A 3 holds`() throws {
    let pem = """
      -----BEGIN PUBLIC KEY-----
      MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
      6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
      -----END PUBLIC KEY-----
      """
    let token =
      "eyJhbGciOiJFUzI1NiJ9"
      + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
      + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    #expect(try TokenFixture([.es256(publicKeyPEM: pem)]).error(token) == .subject)
  }

  @Test(arguments: [
    zeros + zeros, "", "AAAA",
    // Too short, too long, and the same signature as DER.
    String(signature.dropLast(4)), signature + "AAAA",
    "MEUCIQDO2o40g80EyiKycUik8KC3DlqWvh5-txGxB2glyAQGHwIgLknF6Sdtj7MKYeI7chTGRZnK49vwhyczTtOj5I77UnM",
    // The order of the curve, and all ones, in place of both numbers.
    "_____wAAAAD__________7zm-q2nF56E87nKwvxjJVH_____AAAAAP__________vOb6racXnoTzucrC_GMlUQ",
    "______________________________________________________________________________________" + "w",
  ])
  func `what is no signature of the curve is refused`(signature: String) throws {
    let fixture = try TokenFixture([.es256(id: "e1", publicKeyPEM: Self.publicKey)])
    let error = fixture.error(Self.signed + "." + signature)
    #expect(error == .signature || error == .malformed)
  }

  @Test func `a public key is no shared secret, and a token does not choose its algorithm`() throws {
    let fixture = try TokenFixture([.es256(publicKeyPEM: Self.publicKey), .hs256(id: "h", secret: TokenFixture.secret)])
    let forger = try TokenSigner(secret: Array(Self.publicKey.utf8))
    for algorithm in ["HS256", "ES256"] {
      let token = try forger.sign(header: #"{"alg":"\#(algorithm)"}"#, payload: TokenFixture.payload)
      #expect(fixture.error(token) == (algorithm == "HS256" ? .algorithm : .signature))
    }
    let crossed = try fixture.signer.sign(header: #"{"alg":"ES256","kid":"h"}"#, payload: TokenFixture.payload)
    #expect(fixture.error(crossed) == .algorithm)
  }

  @Test(arguments: [
    "", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n",
    // RSA, P-384.
    """
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAuhKmooVZfPdYX55yWs5a
    hH+b3vrm6ovF1t6cNaB3l+YvS+ulWpdBvsWAG2BSfefwRkwxJKTl71R7z9RJJJqv
    1Xhv71s2QP4xzJsZEvPi0WG93WX1T4+T2gOBBeFkpaKDiv+sqiuBtNqs2hIzBMv2
    uXRTlgZ+ikpOu45QJQn7UovtPJLBzByCo883Wqg9UEsp3wF1Vdo1e6oRBhH4x4wI
    YcBf9W8k2XuP+qP3up2zWgpqwNtW41ApppA1kgb7ptZ+CcQ5/vr4bKW0EfWi9KWg
    hVMtXIHjxUm21o/7c1M+CAoFT9vw0skevFO6jyRFu6lVenHEGKlC7gpFvjDmTAaM
    NQIDAQAB
    -----END PUBLIC KEY-----
    """,
    """
    -----BEGIN PUBLIC KEY-----
    MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE4M6TkNsw94zlL3Ob8oN27UFEb2divm7k
    1xcjtN90ABQdva+COwL0EkbkM2YrD8iahirlqEpecOLlHddHBhPu9Pi0+7D16bff
    NkJbia1nRRBPXv/b43h6si+FzSCr15ZT
    -----END PUBLIC KEY-----
    """,
  ])
  func `another kind of key is refused at the start`(pem: String) {
    #expect(throws: TokenKeyError.badPublicKey) { try TokenKey.es256(publicKeyPEM: pem) }
  }

  @Test func `a key does not show itself`() throws {
    let key = try TokenKey.hs256(id: "a", secret: Array("hunter2hunter2hunter2hunter2hunter2".utf8))
    var dumped = ""
    dump(key, to: &dumped)
    let shown = "\(key) \(String(reflecting: key)) \(dumped)"
    #expect(!shown.contains("hunter2") && !shown.contains("104"))
    #expect(key.description == "HS256 key a")
  }

  @Test func `claims that no verifier would accept are not signed`() throws {
    let signer = try TokenSigner(secret: TokenFixture.secret)
    let good = TokenClaims(subject: "a", issuer: "i", audience: ["x"], expires: 0)
    for change: (inout TokenClaims) -> Void in [
      { $0.subject = "" }, { $0.subject = "a\n" }, { $0.audience = [] }, { $0.expires = -1 }, { $0.issuedAt = .max },
    ] {
      var claims = good
      change(&claims)
      #expect(throws: TokenKeyError.unusableClaims) { try signer.sign(claims) }
    }
    #expect(throws: Never.self) { try signer.sign(good) }
  }
}
