// SPDX-License-Identifier: Apache-2.0

/// A check that does not hold: its name, which says what invariant, and what was found.
package struct Broken: Error, Sendable, Equatable, CustomStringConvertible {
  /// The check, such as `I-4 applied twice`: the same for every run that breaks it.
  package let check: String
  /// What was expected and found, in this run.
  package let facts: String

  package init(_ check: String, _ facts: String) {
    self.check = check
    self.facts = facts
  }

  package var description: String { "\(check): \(facts)" }
}

/// Throws unless a condition holds; the facts are put together only then.
func need(_ holds: Bool, _ check: String, _ facts: @autoclosure () -> String) throws {
  if !holds { throw Broken(check, facts()) }
}
