// SPDX-License-Identifier: Apache-2.0

/// Writes CBOR in the core deterministic encoding of RFC 8949, section 4.2.1: shortest heads, shortest floats that keep
/// the value, definite lengths. Map keys are the caller's to write in bytewise order.
package struct CBORWriter {
  package private(set) var bytes: [UInt8] = []

  package init(capacity: Int = 0) { if capacity > 0 { bytes.reserveCapacity(capacity) } }

  /// The head: major type and argument, in the fewest bytes.
  package mutating func head(_ major: UInt8, _ argument: UInt64) {
    let type = major << 5
    switch argument {
    case 0..<24: bytes.append(type | UInt8(argument))
    case 24...0xFF:
      bytes.append(type | 24)
      append(argument, count: 1)
    case 0x100...0xFFFF:
      bytes.append(type | 25)
      append(argument, count: 2)
    case 0x1_0000...0xFFFF_FFFF:
      bytes.append(type | 26)
      append(argument, count: 4)
    default:
      bytes.append(type | 27)
      append(argument, count: 8)
    }
  }

  private mutating func append(_ value: UInt64, count: Int) {
    for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }

  package mutating func integer(_ value: Int64) {
    if value >= 0 { head(0, UInt64(value)) } else { head(1, UInt64(-1 - value)) }
  }

  package mutating func text(_ value: String) {
    var value = value
    value.withUTF8 { utf8 in
      head(3, UInt64(utf8.count))
      bytes.append(contentsOf: utf8)
    }
  }

  package mutating func blob(_ value: [UInt8]) {
    head(2, UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  package mutating func array(_ count: Int) { head(4, UInt64(count)) }

  package mutating func map(_ count: Int) { head(5, UInt64(count)) }

  package mutating func null() { bytes.append(0xF6) }

  package mutating func bool(_ value: Bool) { bytes.append(value ? 0xF5 : 0xF4) }

  /// Half, single or double: the shortest that keeps the value.
  package mutating func real(_ value: Double) {
    let single = Float(value)
    guard Double(single) == value else {
      bytes.append(0xFB)
      append(value.bitPattern, count: 8)
      return
    }
    if let half = Half.bits(of: single) {
      bytes.append(0xF9)
      append(UInt64(half), count: 2)
    } else {
      bytes.append(0xFA)
      append(UInt64(single.bitPattern), count: 4)
    }
  }

  package mutating func value(_ value: Value) {
    switch value {
    case .null: null()
    case .integer(let number): integer(number)
    case .real(let number): real(number)
    case .text(let string): text(string)
    case .blob(let content): blob(content)
    }
  }

  package mutating func values(_ values: [Value]) {
    array(values.count)
    for item in values { value(item) }
  }

  /// Appends what is CBOR already.
  package mutating func raw(_ encoded: [UInt8]) { bytes.append(contentsOf: encoded) }
}

/// IEEE 754 binary16, which Swift does not offer on every system.
enum Half {
  /// The sixteen bits, if the value fits without loss.
  static func bits(of value: Float) -> UInt16? {
    let bits = value.bitPattern
    let sign = UInt16(truncatingIfNeeded: bits >> 16) & 0x8000
    let exponent = Int(bits >> 23 & 0xFF) - 127
    let fraction = bits & 0x7F_FFFF
    if value == 0 { return sign }
    if exponent >= -14, exponent <= 15 {
      guard fraction & 0x1FFF == 0 else { return nil }
      return sign | UInt16(exponent + 15) << 10 | UInt16(fraction >> 13)
    }
    guard exponent >= -24, exponent < -14 else { return nil }
    let whole = fraction | 0x80_0000
    let shift = UInt32(-exponent - 1)  // the subnormal's unit is 2^-24
    guard whole & (1 << shift - 1) == 0 else { return nil }
    return sign | UInt16(whole >> shift)
  }

  static func value(of bits: UInt16) -> Double {
    let exponent = Int(bits >> 10 & 0x1F)
    let fraction = Double(bits & 0x3FF)
    let magnitude: Double =
      switch exponent {
      case 0: scalbn(fraction, -24)
      case 31: fraction == 0 ? .infinity : .nan
      default: scalbn(1024 + fraction, exponent - 25)
      }
    return bits & 0x8000 == 0 ? magnitude : -magnitude
  }

  private static func scalbn(_ value: Double, _ power: Int) -> Double {
    value * Double(sign: .plus, exponent: power, significand: 1)
  }
}
