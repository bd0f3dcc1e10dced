// SPDX-License-Identifier: Apache-2.0

/// Why an expectation on a world does not hold.
///
/// Its description is what any test framework prints of a thrown error: where the expectation stands, what was expected, what
/// was found, and the whole world as text.
public struct TestFailure: Error, Sendable, CustomStringConvertible {
  /// What was expected and what was found.
  public let reason: String
  /// The world at that moment, as `TestWorld.text()` shows it.
  public let world: String
  /// The file and line of the expectation.
  public let place: String

  /// All of it.
  public var description: String { "\(place): \(reason)\n\n\(world)" }
}
