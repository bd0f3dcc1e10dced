// SPDX-License-Identifier: Apache-2.0

/// What a verified token says. Times are milliseconds since 1970.
///
/// Names are for comparison by bytes (`utf8`): Swift's `==` on strings equates different names of different people.
public struct TokenClaims: Hashable, Sendable {
  /// Who the bearer is: 1 to 200 bytes of UTF-8 without control characters.
  public var subject: String
  /// Who says so.
  public var issuer: String
  /// For whom it is said.
  public var audience: [String]
  /// From this time on the token does not count, leeway aside.
  public var expires: Int64
  /// Before this time it does not count yet; nil if it always did.
  public var notBefore: Int64?
  /// When it was made; nil if it does not say.
  public var issuedAt: Int64?

  /// What a token is to say, or says.
  public init(
    subject: String, issuer: String, audience: [String], expires: Int64, notBefore: Int64? = nil,
    issuedAt: Int64? = nil
  ) {
    self.subject = subject
    self.issuer = issuer
    self.audience = audience
    self.expires = expires
    self.notBefore = notBefore
    self.issuedAt = issuedAt
  }
}

extension TokenClaims {
  /// The most bytes of a subject.
  static let subjectBytes = 200
  /// The last second of the year 9999: whatever is later is a mistake of units.
  static let lastSecond: Int64 = 253_402_300_799

  /// Reads what the payload says, without any judgement of whom or when it suits.
  init(_ payload: ClaimsObject) throws(TokenError) {
    guard let subject = payload["sub"]?.text, TokenClaims.isSubject(subject) else { throw .subject }
    guard let issuer = payload["iss"]?.text else { throw .issuer }
    guard let expires = try TokenClaims.time("exp", of: payload) else { throw .claim("exp") }
    self.init(
      subject: subject, issuer: issuer, audience: try TokenClaims.audience(of: payload), expires: expires,
      notBefore: try TokenClaims.time("nbf", of: payload), issuedAt: try TokenClaims.time("iat", of: payload))
  }

  static func isSubject(_ subject: String) -> Bool {
    let isPlain = !subject.unicodeScalars.contains { $0.properties.generalCategory == .control }
    return isPlain && 1...subjectBytes ~= subject.utf8.count
  }

  private static func time(_ name: String, of payload: ClaimsObject) throws(TokenError) -> Int64? {
    guard let value = payload[name] else { return nil }
    guard case .integer(let seconds) = value, 0...lastSecond ~= seconds else { throw .claim(name) }
    return seconds * 1_000
  }

  private static func audience(of payload: ClaimsObject) throws(TokenError) -> [String] {
    switch payload["aud"] {
    case .text(let bytes): return [String(decoding: bytes, as: UTF8.self)]
    case .list(let values):
      let names = values.compactMap(\.text)
      guard names.count == values.count else { throw .audience }
      return names
    default: throw .audience
    }
  }
}
