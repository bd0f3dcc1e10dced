// SPDX-License-Identifier: Apache-2.0

/// Why a command line cannot be carried out.
struct UsageError: Error, CustomStringConvertible {
  let description: String
}

/// A verb's options: `--name value` and `--flag`.
struct Arguments {
  private var values: [String: String] = [:]
  private var flags: Set<String> = []

  /// - Throws: `UsageError` for an option that the verb does not have, that is given twice, or that lacks its value.
  init(_ words: [String], options: Set<String>, flags known: Set<String> = []) throws(UsageError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--") else { throw UsageError(description: "'\(word)' is not an option") }
      let name = String(word.dropFirst(2))
      if known.contains(name) {
        flags.insert(name)
      } else if options.contains(name) {
        guard let value = rest.popFirst() else { throw UsageError(description: "--\(name) needs a value") }
        if values.updateValue(value, forKey: name) != nil { throw UsageError(description: "--\(name) is given twice") }
      } else {
        throw UsageError(description: "there is no option --\(name) here")
      }
    }
  }

  func has(_ flag: String) -> Bool { flags.contains(flag) }

  subscript(_ name: String) -> String? { values[name] }

  func text(_ name: String) throws(UsageError) -> String {
    guard let value = values[name] else { throw UsageError(description: "--\(name) is needed") }
    return value
  }

  func number(_ name: String, or fallback: Int) throws(UsageError) -> Int {
    guard let value = values[name] else { return fallback }
    guard let number = Int(value) else { throw UsageError(description: "--\(name) wants a number, '\(value)' found") }
    return number
  }
}
