// SPDX-License-Identifier: Apache-2.0

/// Makes tokens with a shared secret: for tests, for `curl`, and for a backend without an identity provider.
public struct TokenSigner: Sendable {
  private let id: String?
  private let secret: [UInt8]

  /// - Throws: `TokenKeyError.weakSecret` if the secret has fewer than 32 bytes.
  public init(id: String? = nil, secret: [UInt8]) throws(TokenKeyError) {
    guard secret.count >= TokenKey.minimumSecretBytes else {
      throw .weakSecret(minimumBytes: TokenKey.minimumSecretBytes)
    }
    self.id = id
    self.secret = secret
  }

  /// A token that says this. Times are rounded down to whole seconds, `exp` too.
  ///
  /// - Throws: `TokenKeyError.unusableClaims` if a verifier would refuse it whoever asks and whenever.
  public func sign(_ claims: TokenClaims) throws(TokenKeyError) -> String {
    let times = [claims.expires, claims.notBefore, claims.issuedAt].compactMap(\.self)
    guard TokenClaims.isSubject(claims.subject), !claims.audience.isEmpty,
      times.allSatisfy({ 0...TokenClaims.lastSecond * 1_000 ~= $0 })
    else { throw .unusableClaims }
    return try sign(header: header, payload: TokenSigner.payload(claims))
  }

  /// A token of these two texts, whatever they are: tests make wrong ones with it.
  package func sign(header: String, payload: String) throws(TokenKeyError) -> String {
    let signed =
      Base64URL.encode(header.utf8) + [UInt8(ascii: ".")] + Base64URL.encode(payload.utf8)
    guard let code = HMAC.code(over: signed[...], secret: secret) else { throw .unusableClaims }
    return String(decoding: signed + [UInt8(ascii: ".")] + Base64URL.encode(code), as: UTF8.self)
  }

  private var header: String {
    "{\"alg\":\"HS256\",\"typ\":\"JWT\"" + (id.map { ",\"kid\":" + TokenSigner.quoted($0) } ?? "") + "}"
  }

  private static func payload(_ claims: TokenClaims) -> String {
    var members = ["\"sub\":" + quoted(claims.subject), "\"iss\":" + quoted(claims.issuer)]
    members.append("\"aud\":[" + claims.audience.map(quoted).joined(separator: ",") + "]")
    members.append("\"exp\":\(claims.expires / 1_000)")
    if let notBefore = claims.notBefore { members.append("\"nbf\":\(notBefore / 1_000)") }
    if let issuedAt = claims.issuedAt { members.append("\"iat\":\(issuedAt / 1_000)") }
    return "{" + members.joined(separator: ",") + "}"
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\u{0}"..."\u{1F}":
        let hex = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
