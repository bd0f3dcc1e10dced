// SPDX-License-Identifier: Apache-2.0

/// Base64 (RFC 4648), in the one form that each sequence of bytes has.
enum Base64 {
  /// Section 4 of the RFC with padding, for values; section 5 without, for tokens that also go into an address.
  enum Form {
    case standard
    case url
  }

  static func append(_ content: [UInt8], to out: inout [UInt8], _ form: Form) {
    let digits = form == .standard ? standardDigits : urlDigits
    var index = 0
    while index < content.count {
      let left = content.count - index
      var group = UInt32(content[index]) << 16
      if left > 1 { group |= UInt32(content[index + 1]) << 8 }
      if left > 2 { group |= UInt32(content[index + 2]) }
      for place in 0..<4 {
        if place <= left {
          out.append(digits[Int(group >> UInt32(18 - 6 * place) & 63)])
        } else if form == .standard {
          out.append(UInt8(ascii: "="))
        }
      }
      index += 3
    }
  }

  /// Nil for anything but the form that `append` writes: no white space, exact padding, and no bits left over, since a
  /// token that can be written in two ways can be told apart by one side only.
  static func decode(_ text: ArraySlice<UInt8>, _ form: Form) -> [UInt8]? {
    var text = text
    if form == .standard {
      guard text.count % 4 == 0 else { return nil }
      for _ in 0..<2 where text.last == UInt8(ascii: "=") { text.removeLast() }
    }
    guard text.count % 4 != 1 else { return nil }
    let digits = form == .standard ? standardValues : urlValues
    var out: [UInt8] = []
    out.reserveCapacity(text.count / 4 * 3 + 2)
    var bits: UInt32 = 0
    var count = 0
    for unit in text {
      let value = digits[Int(unit)]
      if value > 63 { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        out.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return bits & (1 << UInt32(count) - 1) == 0 ? out : nil
  }

  private static let standardDigits = digits(ending: "+/")
  private static let urlDigits = digits(ending: "-_")
  private static let standardValues = values(standardDigits)
  private static let urlValues = values(urlDigits)

  private static func digits(ending last: String) -> [UInt8] {
    Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
  }

  /// For each byte the value of the digit, 255 if it is none.
  private static func values(_ digits: [UInt8]) -> [UInt8] {
    var out = [UInt8](repeating: 255, count: 256)
    for (value, digit) in digits.enumerated() { out[Int(digit)] = UInt8(value) }
    return out
  }
}

/// Lower-case hexadecimal, straight between bytes.
enum HexDigits {
  @inline(__always)
  static func lower(_ value: UInt8) -> UInt8 { value < 10 ? value &+ 0x30 : value &+ 0x57 }

  /// Two digits for each byte; nil for upper case and anything else, so that each digest has one text.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 2 == 0 else { return nil }
    var out: [UInt8] = []
    out.reserveCapacity(text.count / 2)
    var first: UInt8?
    for unit in text {
      guard let value = value(unit) else { return nil }
      if let high = first {
        out.append(high << 4 | value)
        first = nil
      } else {
        first = value
      }
    }
    return out
  }

  static func append(_ bytes: [UInt8], to out: inout [UInt8]) {
    for byte in bytes {
      out.append(lower(byte >> 4))
      out.append(lower(byte & 15))
    }
  }

  @inline(__always)
  static func value(_ unit: UInt8) -> UInt8? {
    switch unit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): unit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): unit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
