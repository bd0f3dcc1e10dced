// SPDX-License-Identifier: Apache-2.0

import CSkerryCrypto

/// HMAC with SHA-256, by OpenSSL.
enum HMAC {
  static let count = 32

  /// Nil if OpenSSL cannot, which is a lack of memory or a build without SHA-256.
  static func code(over message: ArraySlice<UInt8>, secret: [UInt8]) -> [UInt8]? {
    var code = [UInt8](repeating: 0, count: count)
    var written: UInt32 = 0
    let made = message.withUnsafeBufferPointer { message in
      CSkerryCrypto.HMAC(
        EVP_sha256(), secret, Int32(secret.count), message.baseAddress, message.count, &code, &written) != nil
    }
    return made && Int(written) == count ? code : nil
  }

  /// Compares in a time that does not depend on where the two differ.
  static func authenticates(_ given: [UInt8], over message: ArraySlice<UInt8>, secret: [UInt8]) -> Bool {
    guard given.count == count, let code = code(over: message, secret: secret) else { return false }
    return CRYPTO_memcmp(given, code, count) == 0
  }
}
