// SPDX-License-Identifier: Apache-2.0

import SkerryTokenKit

/// A signer and the verifier that trusts it. The time is 1,000,000 s unless a test says otherwise.
struct TokenFixture {
  static let now: Int64 = 1_000_000_000
  static let issuer = "https://id.example"
  static let secret = [UInt8]((0..<32).map { $0 &* 7 })
  static let header = #"{"alg":"HS256","typ":"JWT"}"#
  static let payload = #"{"sub":"ana","iss":"https://id.example","aud":"skerry","exp":1000100}"#

  let signer: TokenSigner
  let verifier: TokenVerifier

  init(_ keys: [TokenKey]? = nil, leeway: Int64 = 0) throws {
    signer = try TokenSigner(secret: Self.secret)
    verifier = try TokenVerifier(
      keys: keys ?? [.hs256(secret: Self.secret)], issuer: Self.issuer, audience: "skerry", leeway: leeway)
  }

  /// What the verifier says to a well-signed token of these two texts.
  func error(header: String = header, payload: String = payload, now: Int64 = now) throws -> TokenError? {
    error(try signer.sign(header: header, payload: payload), now: now)
  }

  func error(_ token: String, now: Int64 = now) -> TokenError? {
    do throws(TokenError) {
      _ = try verifier.verify(token, now: now)
      return nil
    } catch { return error }
  }
}
