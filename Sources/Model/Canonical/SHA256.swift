// SPDX-License-Identifier: Apache-2.0

/// SHA-256 as FIPS 180-4 defines it, in Swift so that everything an app links needs no crypto library.
package struct SHA256 {
  private var state = State()
  private var pending: [UInt8] = []
  private var length: UInt64 = 0

  /// The eight words that the blocks so far have led to.
  private struct State {
    var (a, b, c, d): (UInt32, UInt32, UInt32, UInt32) = (0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a)
    var (e, f, g, h): (UInt32, UInt32, UInt32, UInt32) = (0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)

    var bytes: [UInt8] {
      [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
        var at = 0
        for word in [a, b, c, d, e, f, g, h] {
          for shift in [24, 16, 8, 0] as [UInt32] {
            buffer[at] = UInt8(truncatingIfNeeded: word >> shift)
            at += 1
          }
        }
        count = 32
      }
    }
  }

  package init() {}

  /// The digest of some bytes, 32 of them.
  package static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var state = State()
    bytes.withUnsafeBufferPointer { buffer in
      let whole = buffer.count & ~63
      compress(UnsafeBufferPointer(rebasing: buffer[..<whole]), &state)
      finish(UnsafeBufferPointer(rebasing: buffer[whole...]), length: UInt64(buffer.count), &state)
    }
    return state.bytes
  }

  package mutating func update(_ bytes: [UInt8]) {
    length += UInt64(bytes.count)
    var start = 0
    if !pending.isEmpty {
      start = min(64 - pending.count, bytes.count)
      pending.append(contentsOf: bytes[..<start])
      guard pending.count == 64 else { return }
      pending.withUnsafeBufferPointer { SHA256.compress($0, &state) }
      pending.removeAll(keepingCapacity: true)
    }
    let end = start + (bytes.count - start) & ~63
    bytes.withUnsafeBufferPointer { SHA256.compress(UnsafeBufferPointer(rebasing: $0[start..<end]), &state) }
    pending.append(contentsOf: bytes[end...])
  }

  package mutating func finish() -> [UInt8] {
    pending.withUnsafeBufferPointer { SHA256.finish($0, length: length, &state) }
    return state.bytes
  }

  /// Takes in the last bytes, fewer than a block, with the padding and the length of all.
  private static func finish(_ rest: UnsafeBufferPointer<UInt8>, length: UInt64, _ state: inout State) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 128) { tail in
      tail.initialize(repeating: 0)
      for index in rest.indices { tail[index] = rest[index] }
      tail[rest.count] = 0x80
      let size = rest.count < 56 ? 64 : 128
      let bits = length &* 8
      for index in 0..<8 { tail[size - 1 - index] = UInt8(truncatingIfNeeded: bits >> UInt64(index * 8)) }
      compress(UnsafeBufferPointer(rebasing: tail[..<size]), &state)
    }
  }

  /// Takes in whole blocks.
  private static func compress(_ bytes: UnsafeBufferPointer<UInt8>, _ state: inout State) {
    constants.withUnsafeBufferPointer { constants in
      withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
        for start in stride(from: 0, to: bytes.count, by: 64) {
          schedule(bytes, at: start, words)
          compress(words, constants, &state)
        }
      }
    }
  }

  private static func schedule(
    _ bytes: UnsafeBufferPointer<UInt8>, at start: Int, _ words: UnsafeMutableBufferPointer<UInt32>
  ) {
    for index in 0..<16 {
      let at = start &+ index &* 4
      words[index] =
        UInt32(bytes[at]) << 24 | UInt32(bytes[at &+ 1]) << 16 | UInt32(bytes[at &+ 2]) << 8 | UInt32(bytes[at &+ 3])
    }
    for index in 16..<64 {
      let low = words[index &- 15]
      let high = words[index &- 2]
      let first = rotated(low, 7) ^ rotated(low, 18) ^ low >> 3
      let second = rotated(high, 17) ^ rotated(high, 19) ^ high >> 10
      words[index] = words[index &- 16] &+ first &+ words[index &- 7] &+ second
    }
  }

  private static func compress(
    _ words: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>, _ state: inout State
  ) {
    var (a, b, c, d) = (state.a, state.b, state.c, state.d)
    var (e, f, g, h) = (state.e, state.f, state.g, state.h)
    for index in 0..<64 {
      let sum =
        h &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ ((e & f) ^ (~e & g))
        &+ constants[index] &+ words[index]
      let other = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ ((a & b) ^ (a & c) ^ (b & c))
      (h, g, f, e) = (g, f, e, d &+ sum)
      (d, c, b, a) = (c, b, a, sum &+ other)
    }
    (state.a, state.b, state.c, state.d) = (state.a &+ a, state.b &+ b, state.c &+ c, state.d &+ d)
    (state.e, state.f, state.g, state.h) = (state.e &+ e, state.f &+ f, state.g &+ g, state.h &+ h)
  }

  @inline(__always)
  private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 &- count) }

  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
