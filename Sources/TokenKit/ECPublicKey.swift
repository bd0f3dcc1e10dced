// SPDX-License-Identifier: Apache-2.0

import CSkerryCrypto

/// A public key of the curve P-256, owned here and freed with this.
///
/// Unchecked: the pointer never changes and the key is only read; OpenSSL's objects may be read by many threads at a
/// time (https://docs.openssl.org/3.0/man7/openssl-threads/).
final class ECPublicKey: @unchecked Sendable {
  private let key: OpaquePointer

  init(pem: String) throws(TokenKeyError) {
    defer { ERR_clear_error() }  // the thread's queue of errors is not ours to leave filled
    // The source reads from the bytes themselves, so they stay in place until the key is read.
    let read = Array(pem.utf8).withUnsafeBytes { bytes -> OpaquePointer? in
      guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
      defer { BIO_free(source) }
      return PEM_read_bio_PUBKEY(source, nil, nil, nil)
    }
    guard let key = read else { throw .badPublicKey }
    guard ECPublicKey.isP256(key) else {
      EVP_PKEY_free(key)
      throw .badPublicKey
    }
    self.key = key
  }

  deinit { EVP_PKEY_free(key) }

  /// Whether this is a signature in the form of RFC 7518, section 3.4: both numbers as 32 bytes each, nothing else.
  func verifies(_ signature: [UInt8], over message: ArraySlice<UInt8>) -> Bool {
    defer { ERR_clear_error() }
    guard signature.count == 64, let encoded = ECPublicKey.encode(signature), let context = EVP_MD_CTX_new() else {
      return false
    }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
    return message.withUnsafeBufferPointer { message in
      EVP_DigestVerify(context, encoded, encoded.count, message.baseAddress, message.count) == 1
    }
  }

  private static func isP256(_ key: OpaquePointer) -> Bool {
    var name = [CChar](repeating: 0, count: 32)
    guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC, EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else {
      return false
    }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) == "prime256v1"
  }

  /// OpenSSL reads signatures as DER: SEQUENCE { INTEGER r, INTEGER s }.
  private static func encode(_ signature: [UInt8]) -> [UInt8]? {
    guard let pair = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(pair) }
    let r = BN_bin2bn(Array(signature[..<32]), 32, nil)
    let s = BN_bin2bn(Array(signature[32...]), 32, nil)
    guard ECDSA_SIG_set0(pair, r, s) == 1 else {  // refused if one is nil, and then neither is taken over
      BN_free(r)
      BN_free(s)
      return nil
    }
    var encoded = [UInt8](repeating: 0, count: 80)
    let count = encoded.withUnsafeMutableBufferPointer { buffer in
      var end = buffer.baseAddress
      return i2d_ECDSA_SIG(pair, &end)
    }
    return count > 0 ? Array(encoded.prefix(Int(count))) : nil
  }
}
