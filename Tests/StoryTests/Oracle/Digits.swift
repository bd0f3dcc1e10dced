// SPDX-License-Identifier: Apache-2.0

/// Numbers that tell, of a sum, which of them went into it and how often: each is a power of four of its own.
enum Digits {
  static let count = 31

  static func amount(_ digit: Int) -> Int64 { 1 << Int64(2 * digit) }

  /// How often a number went into a sum, 0 to 3.
  static func times(_ amount: Int64, in sum: Int64) -> Int { Int(sum >> Int64(amount.trailingZeroBitCount) & 3) }

  /// The first digit that is in a sum twice or more; nil if there is none.
  static func repeated(in sum: Int64) -> Int? {
    let twice = sum & 0x2AAA_AAAA_AAAA_AAAA
    return twice == 0 ? nil : twice.trailingZeroBitCount / 2
  }
}
