// SPDX-License-Identifier: Apache-2.0

/// Why a token does not count. No case holds anything of the token or of a key, so each may be shown to a stranger.
public enum TokenError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Longer than `TokenVerifier.maximumBytes`.
  case tooLong
  /// Not three parts of base64url with strict JSON in the first two.
  case malformed
  /// The header names another algorithm than the key has.
  case algorithm
  /// The header is of another type, or asks for an extension that must be understood.
  case header
  /// No key has the id that the header names.
  case unknownKey
  /// The signature is not the key's.
  case signature
  /// The time is past `exp`.
  case expired
  /// The time is before `nbf`.
  case notYetValid
  /// The token comes from another issuer, or names none.
  case issuer
  /// The token is for somebody else, or for nobody.
  case audience
  /// `sub` is missing, empty, too long, or has control characters.
  case subject
  /// A claim that must be a time in whole seconds is missing or something else.
  case claim(String)

  /// What is wrong, in a sentence.
  public var description: String {
    switch self {
    case .tooLong: "the token is too long"
    case .malformed: "the token is malformed"
    case .algorithm: "the token's algorithm is not the one of its key"
    case .header: "the token's header asks for something that is not supported"
    case .unknownKey: "the token's key is not known"
    case .signature: "the token's signature does not hold"
    case .expired: "the token has expired"
    case .notYetValid: "the token is not valid yet"
    case .issuer: "the token comes from another issuer"
    case .audience: "the token is meant for another service"
    case .subject: "the token names no valid subject"
    case .claim(let name): "the token's claim \(name) is missing or no time in whole seconds"
    }
  }

  /// Whether a new token from the same issuer may help.
  public var isCuredByRenewal: Bool { self == .expired }
}

/// Why a key cannot be used: a mistake in the configuration, found at the start.
public enum TokenKeyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A secret shorter than the hash is (RFC 7518, section 3.2).
  case weakSecret(minimumBytes: Int)
  /// No public key of the curve P-256 in PEM.
  case badPublicKey
  /// Two keys have the same id, or two have none.
  case duplicateKeyID
  /// There is no key.
  case noKeys
  /// The leeway is negative or more than a minute.
  case leeway
  /// A claim to be signed that no verifier would accept.
  case unusableClaims

  /// What is wrong and what to do, in a sentence.
  public var description: String {
    switch self {
    case .weakSecret(let count): "a signing secret needs at least \(count) bytes; take them from a random source"
    case .badPublicKey: "this is no PEM with a public key of the curve P-256"
    case .duplicateKeyID: "two keys have the same id; give each its own"
    case .noKeys: "tokens need at least one key"
    case .leeway: "the leeway for clocks is 0 to 60,000 milliseconds"
    case .unusableClaims: "the claims to sign need a subject without control characters, and times that are in order"
    }
  }
}
