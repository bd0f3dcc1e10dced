// SPDX-License-Identifier: Apache-2.0

/// Verifies bearer tokens (RFC 7519) under strict checks (RFC 8725): OpenSSL computes, everything else is decided here.
///
/// A value without state: the time is given with each call.
public struct TokenVerifier: Sendable {
  /// The most bytes of a token. A longer one is refused unread.
  public static let maximumBytes = 8_192

  private let keys: [TokenKey]
  private let issuer: String
  private let audience: String
  private let leeway: Int64

  /// - Parameters:
  ///   - keys: Each with its own id; at most one without.
  ///   - issuer: What `iss` must be, byte by byte.
  ///   - audience: What `aud` must be or contain, byte by byte.
  ///   - leeway: How many milliseconds the two clocks may differ, 0 to 60,000.
  /// - Throws: `TokenKeyError`.
  public init(keys: [TokenKey], issuer: String, audience: String, leeway: Int64 = 30_000) throws(TokenKeyError) {
    guard !keys.isEmpty else { throw .noKeys }
    guard Set(keys.map { $0.id.map { Array($0.utf8) } }).count == keys.count else { throw .duplicateKeyID }
    guard 0...60_000 ~= leeway else { throw .leeway }
    self.keys = keys
    self.issuer = issuer
    self.audience = audience
    self.leeway = leeway
  }

  /// What the token says, if it counts at this time.
  ///
  /// - Parameters:
  ///   - token: The token as it was received.
  ///   - now: The time in milliseconds since 1970.
  /// - Throws: `TokenError`. The signature is checked before any claim is, so a forger learns nothing from the case.
  public func verify(_ token: String, now: Int64) throws(TokenError) -> TokenClaims {
    let claims = try TokenClaims(verifiedPayload(of: token))
    guard claims.issuer.utf8.elementsEqual(issuer.utf8) else { throw .issuer }
    guard claims.audience.contains(where: { $0.utf8.elementsEqual(audience.utf8) }) else { throw .audience }
    try check(claims, at: now)
    return claims
  }

  /// Looks at the times again, for a token that was verified before and kept.
  ///
  /// - Throws: `TokenError.expired` or `.notYetValid`.
  public func check(_ claims: TokenClaims, at now: Int64) throws(TokenError) {
    guard now - leeway < claims.expires else { throw .expired }
    if let notBefore = claims.notBefore, now + leeway < notBefore { throw .notYetValid }
  }

  /// The payload of a token whose signature holds.
  func verifiedPayload(of token: String) throws(TokenError) -> ClaimsObject {
    let bytes = Array(token.utf8)
    guard bytes.count <= TokenVerifier.maximumBytes else { throw .tooLong }
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { throw .malformed }
    let key = try key(for: ClaimsParser.object(header))
    guard key.holds(signature, over: bytes[..<parts[1].endIndex]) else { throw .signature }
    return try ClaimsParser.object(payload)
  }

  private func key(for header: ClaimsObject) throws(TokenError) -> TokenKey {
    guard header["crit"] == nil else { throw .header }
    if let type = header["typ"] {
      guard case .text(let bytes) = type, bytes.map({ $0 & ~0x20 }) == Array("JWT".utf8) else { throw .header }
    }
    let id = try header["kid"].map { value throws(TokenError) in
      guard case .text(let bytes) = value else { throw .malformed }
      return bytes
    }
    guard let key = keys.first(where: { $0.id.map { Array($0.utf8) } == id }) else { throw .unknownKey }
    guard let algorithm = header["alg"]?.text, algorithm.utf8.elementsEqual(key.algorithm.utf8) else {
      throw .algorithm
    }
    return key
  }
}
