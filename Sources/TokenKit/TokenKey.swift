// SPDX-License-Identifier: Apache-2.0

/// A key with its algorithm and its id. The algorithm is the key's and never the token's, so that no public key can be
/// used as a shared secret.
public struct TokenKey: Sendable, CustomStringConvertible {
  /// The fewest bytes of a shared secret, the length of the hash.
  public static let minimumSecretBytes = 32

  enum Material: Sendable {
    case secret([UInt8])
    case publicKey(ECPublicKey)
  }

  /// What the header's `kid` must be, byte by byte; nil for the key of tokens without one.
  public let id: String?
  let material: Material

  /// A shared secret for HMAC with SHA-256.
  ///
  /// - Throws: `TokenKeyError.weakSecret` if it has fewer than 32 bytes.
  public static func hs256(id: String? = nil, secret: [UInt8]) throws(TokenKeyError) -> TokenKey {
    guard secret.count >= minimumSecretBytes else { throw .weakSecret(minimumBytes: minimumSecretBytes) }
    return TokenKey(id: id, material: .secret(secret))
  }

  /// A public key for ECDSA on P-256 with SHA-256, from the PEM form of its SubjectPublicKeyInfo.
  ///
  /// - Throws: `TokenKeyError.badPublicKey` if it is anything else.
  public static func es256(id: String? = nil, publicKeyPEM: String) throws(TokenKeyError) -> TokenKey {
    TokenKey(id: id, material: .publicKey(try ECPublicKey(pem: publicKeyPEM)))
  }

  /// `HS256` or `ES256`.
  public var algorithm: String {
    switch material {
    case .secret: "HS256"
    case .publicKey: "ES256"
    }
  }

  /// The algorithm and the id, never the key.
  public var description: String { "\(algorithm) key \(id ?? "without id")" }

  func holds(_ signature: [UInt8], over signed: ArraySlice<UInt8>) -> Bool {
    switch material {
    case .secret(let secret): HMAC.authenticates(signature, over: signed, secret: secret)
    case .publicKey(let key): key.verifies(signature, over: signed)
    }
  }
}

extension TokenKey: CustomDebugStringConvertible, CustomReflectable {
  /// As `description`: a key must not get into a log by way of a debugger's or a test's print.
  public var debugDescription: String { description }
  /// Without children, for the same reason.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
