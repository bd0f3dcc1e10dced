// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SkerryTokenKit

@Suite struct TokenCacheTests {
  let fixture = try? TokenFixture()

  private func token(_ subject: String, id: String? = nil) throws -> String {
    let claims = TokenClaims(
      subject: subject, issuer: TokenFixture.issuer, audience: ["skerry"], expires: 1_000_100_000)
    return try TokenSigner(id: id, secret: TokenFixture.secret).sign(claims)
  }

  @Test func `a remembered token says the same, until it expires`() throws {
    let cache = TokenCache(try #require(fixture).verifier)
    let token = try token("ana")
    for _ in 0..<3 { #expect(try cache.verify(token, now: TokenFixture.now).subject == "ana") }
    #expect(cache.count == 1)
    #expect(throws: TokenError.expired) { try cache.verify(token, now: 1_000_100_000) }
  }

  @Test func `a refused token is not remembered`() throws {
    let cache = TokenCache(try #require(fixture).verifier)
    #expect(throws: TokenError.malformed) { try cache.verify("a.b", now: TokenFixture.now) }
    #expect(throws: TokenError.expired) { try cache.verify(token("ana"), now: .max / 2) }
    #expect(throws: TokenError.tooLong) {
      try cache.verify(String(repeating: "a", count: 10_000), now: TokenFixture.now)
    }
    #expect(cache.count == 0)
  }

  @Test func `a twin by Unicode of a remembered token is refused`() throws {
    let cache = TokenCache(try #require(fixture).verifier)
    let token = try (0..<200).lazy.map { try self.token("ana\($0)") }.first { $0.contains("K") }
    let twin = try #require(token).replacing("K", with: "\u{212A}")
    #expect(twin == token)
    _ = try cache.verify(try #require(token), now: TokenFixture.now)
    #expect(throws: TokenError.malformed) { try cache.verify(twin, now: TokenFixture.now) }
  }

  @Test func `it holds no more than it may, and keeps what is used`() throws {
    let cache = TokenCache(try #require(fixture).verifier, capacity: 10)
    let used = try token("used")
    for number in 0..<50 {
      _ = try cache.verify(used, now: TokenFixture.now)
      _ = try cache.verify(try token("\(number)"), now: TokenFixture.now)
      #expect(cache.count <= 10)
    }
    #expect(try cache.verify(used, now: TokenFixture.now).subject == "used")
  }
}
