// SPDX-License-Identifier: Apache-2.0

/// Folds words and bytes, in order, into one number. It tells runs apart; it is no protection against an adversary.
package struct TraceHash {
  package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  private static let prime: UInt64 = 0x9E37_79B9_7F4A_7C15

  private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word) &* prime
    return product ^ (product >> 29)
  }

  package mutating func fold(_ word: UInt64) { value = TraceHash.mix(value, word) }

  package mutating func fold(_ number: Int) { fold(UInt64(bitPattern: Int64(number))) }

  /// Four words at a time, each in a lane of its own, so that one multiplication need not wait for another.
  package mutating func fold(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    var (a, b, c, d) = (value, value &+ 1, value &+ 2, value &+ 3)
    var offset = 0
    while offset + 32 <= bytes.count {
      a = TraceHash.mix(a, base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      b = TraceHash.mix(b, base.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
      c = TraceHash.mix(c, base.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self))
      d = TraceHash.mix(d, base.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self))
      offset += 32
    }
    for word in [a, b, c, d] { fold(word) }
    while offset < bytes.count {
      fold(UInt64(bytes[offset]))
      offset += 1
    }
  }
}
