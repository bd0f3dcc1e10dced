// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryWire

/// Members of a control message, wanted in a certain form.
extension JSON {
  func text(_ name: String) throws(UsageError) -> String {
    guard let text = try optionalText(name) else { throw UsageError(description: "\"\(name)\" is needed, a text") }
    return text
  }

  func optionalText(_ name: String) throws(UsageError) -> String? {
    switch self[name] {
    case nil, .null?: return nil
    case .string(let text)?: return text
    default: throw UsageError(description: "\"\(name)\" is to be a text")
    }
  }

  func integer(_ name: String) throws(UsageError) -> Int64 {
    guard let number = try optionalInteger(name) else {
      throw UsageError(description: "\"\(name)\" is needed, an integer")
    }
    return number
  }

  func optionalInteger(_ name: String) throws(UsageError) -> Int64? {
    switch self[name] {
    case nil, .null?: return nil
    case .integer(let number)?: return number
    default: throw UsageError(description: "\"\(name)\" is to be an integer")
    }
  }

  func flag(_ name: String) throws(UsageError) -> Bool {
    guard case .bool(let flag)? = self[name] else {
      throw UsageError(description: "\"\(name)\" is to be true or false")
    }
    return flag
  }

  func list(_ name: String, or fallback: [JSON]? = nil) throws(UsageError) -> [JSON] {
    if case .array(let elements)? = self[name] { return elements }
    if self[name] == nil, let fallback { return fallback }
    throw UsageError(description: "\"\(name)\" is to be an array")
  }

  func members(_ name: String) throws(UsageError) -> [Member] {
    switch self[name] {
    case nil: return []
    case .object(let members)?: return members
    default: throw UsageError(description: "\"\(name)\" is to be an object")
    }
  }

  /// The members of an object as columns' values.
  func values(_ name: String) throws(UsageError) -> [String: SkerryModel.Value] {
    var values: [String: SkerryModel.Value] = [:]
    for member in try members(name) { values[member.name] = try SkerryModel.Value(member.value) }
    return values
  }

  /// An integer or a double; nil for anything else.
  var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }
}

extension Value {
  /// A value in the form that it has on the wire too, see `docs/protocol.md`.
  init(_ json: JSON) throws(UsageError) {
    switch json {
    case .null: self = .null
    case .bool(let flag): self = .integer(flag ? 1 : 0)
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .string(let text): self = .text(text)
    case .array, .object:
      guard case .string(let text)? = json["base64"], let bytes = JSON.bytes(base64: text) else {
        throw UsageError(description: "a value is null, a number, a text or {\"base64\": …}")
      }
      self = .blob(bytes)
    }
  }

  var json: JSON {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let text): .string(text)
    case .blob(let bytes): ["base64": .string(JSON.base64(bytes))]
    }
  }
}
