// SPDX-License-Identifier: Apache-2.0

/// Why a command line cannot be carried out.
struct UsageError: Error, CustomStringConvertible {
  let description: String
}

/// What follows a verb: `--name value` and `--flag`, and words in a fixed order.
struct Arguments {
  private var values: [String: String] = [:]
  private var flags: Set<String> = []
  /// The words that are no options, in order; at least one for each name.
  private(set) var words: [String] = []

  /// - Parameter names: what the words that are no options stand for, in order; a last one that ends in `…` takes all that
  ///   follow. After `--` each word is one of these, whatever it begins with.
  /// - Throws: `UsageError` for an option that the verb does not have, that is given twice, or that lacks its value, and for a
  ///   word that is missing or one too many.
  init(
    _ given: [String], words names: [String] = [], options: Set<String>, flags known: Set<String> = []
  ) throws(UsageError) {
    var rest = given[...]
    while let word = rest.popFirst() {
      if word == "--", !names.isEmpty {
        words += rest
        break
      }
      if word.hasPrefix("--") {
        try take(String(word.dropFirst(2)), &rest, options, known)
      } else if names.isEmpty {
        throw UsageError(description: "'\(word)' is not an option")
      } else {
        words.append(word)
      }
    }
    try check(names)
  }

  private mutating func take(
    _ name: String, _ rest: inout ArraySlice<String>, _ options: Set<String>, _ known: Set<String>
  ) throws(UsageError) {
    if known.contains(name) {
      flags.insert(name)
    } else if options.contains(name) {
      // A value that looks like an option is one that was forgotten; a file of such a name can be given as ./--name.
      guard let value = rest.popFirst(), !value.hasPrefix("--") else {
        throw UsageError(description: "--\(name) needs a value")
      }
      if values.updateValue(value, forKey: name) != nil { throw UsageError(description: "--\(name) is given twice") }
    } else {
      throw UsageError(description: "there is no option --\(name) here")
    }
  }

  private func check(_ names: [String]) throws(UsageError) {
    if words.count < names.count { throw UsageError(description: "\(names[words.count]) is needed") }
    if words.count > names.count, names.last?.hasSuffix("…") != true {
      throw UsageError(description: "'\(words[names.count])' is one word too many")
    }
  }

  func has(_ flag: String) -> Bool { flags.contains(flag) }

  subscript(_ name: String) -> String? { values[name] }

  func text(_ name: String) throws(UsageError) -> String {
    guard let value = values[name] else { throw UsageError(description: "--\(name) is needed") }
    return value
  }

  func number(
    _ name: String, or fallback: Int, in range: ClosedRange<Int> = .min ... .max
  ) throws(UsageError) -> Int {
    guard let value = values[name] else { return fallback }
    guard let number = Int(value), range ~= number else {
      let bounds = range == .min ... .max ? "" : " from \(range.lowerBound) to \(range.upperBound)"
      throw UsageError(description: "--\(name) wants a number\(bounds), '\(value)' found")
    }
    return number
  }
}
