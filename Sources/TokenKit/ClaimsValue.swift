// SPDX-License-Identifier: Apache-2.0

/// A JSON value of a token's header or payload, as far as tokens need it.
enum ClaimsValue: Hashable, Sendable {
  /// The bytes of a string, unescaped: valid UTF-8.
  case text([UInt8])
  case integer(Int64)
  /// A number with a fraction, an exponent or too many digits: no claim that is looked at may be one.
  case otherNumber
  case bool(Bool)
  case null
  case list([ClaimsValue])
  case object(ClaimsObject)

  var text: String? { if case .text(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil } }
}

/// The members of an object, looked up by bytes.
struct ClaimsObject: Hashable, Sendable {
  private var members: [[UInt8]: ClaimsValue] = [:]

  subscript(name: String) -> ClaimsValue? { members[Array(name.utf8)] }

  /// False if there is one of that name already.
  mutating func insert(_ value: ClaimsValue, as name: [UInt8]) -> Bool {
    members.updateValue(value, forKey: name) == nil
  }
}
