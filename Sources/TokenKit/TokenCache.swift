// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Remembers what verified tokens say, so that a signature is computed once for a token and not once for a request. The
/// times are looked at again each time, and a refused token is never remembered.
///
/// It holds as many tokens as told at most and forgets the ones that were not used for the longest, roughly. Tokens are
/// compared by bytes: Swift's `==` would let a KELVIN SIGN pass for a K. It may be used from any thread.
public final class TokenCache: Sendable {
  private struct State {
    var recent: [[UInt8]: TokenClaims] = [:]
    var older: [[UInt8]: TokenClaims] = [:]
  }

  private let verifier: TokenVerifier
  private let half: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - verifier: Asked for what is not held.
  ///   - capacity: The most tokens held, of 8 kB at most each.
  public init(_ verifier: TokenVerifier, capacity: Int = 4_096) {
    self.verifier = verifier
    half = max(1, capacity / 2)
  }

  /// What the token says, if it counts at this time.
  ///
  /// - Parameters:
  ///   - token: The token as it was received.
  ///   - now: The time in milliseconds since 1970.
  /// - Throws: `TokenError`, as the verifier does.
  public func verify(_ token: String, now: Int64) throws(TokenError) -> TokenClaims {
    guard token.utf8.count <= TokenVerifier.maximumBytes else { throw .tooLong }
    let bytes = Array(token.utf8)
    if let claims = state.withLock({ TokenCache.find(bytes, in: &$0, half: half) }) {
      try verifier.check(claims, at: now)
      return claims
    }
    let claims = try verifier.verify(token, now: now)  // without the lock: it takes the longest
    state.withLock { TokenCache.keep(claims, of: bytes, in: &$0, half: half) }
    return claims
  }

  /// How many tokens are held.
  var count: Int { state.withLock { $0.recent.count + $0.older.count } }

  private static func find(_ token: [UInt8], in state: inout State, half: Int) -> TokenClaims? {
    if let claims = state.recent[token] { return claims }
    guard let claims = state.older.removeValue(forKey: token) else { return nil }
    keep(claims, of: token, in: &state, half: half)
    return claims
  }

  private static func keep(_ claims: TokenClaims, of token: [UInt8], in state: inout State, half: Int) {
    if state.recent.count >= half {
      state.older = state.recent
      state.recent = [:]
    }
    state.recent[token] = claims
  }
}
