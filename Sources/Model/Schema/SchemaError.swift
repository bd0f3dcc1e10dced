// SPDX-License-Identifier: Apache-2.0

/// Why a schema is refused: where, what was found, and what to do.
public struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table, if the fault is in one.
  public let table: String?
  /// The column, if the fault is in one.
  public let column: String?
  /// What is wrong.
  public let reason: String
  /// What to do.
  public let remedy: String

  package init(_ table: String?, _ column: String?, _ reason: String, _ remedy: String) {
    self.table = table
    self.column = column
    self.reason = reason
    self.remedy = remedy
  }

  package init(_ table: String?, _ reason: String, _ remedy: String) { self.init(table, nil, reason, remedy) }

  package init(_ reason: String, _ remedy: String) { self.init(nil, nil, reason, remedy) }

  /// All four parts in one line.
  public var description: String {
    let place = [table, column].compactMap { $0 }.joined(separator: ".")
    return "schema\(place.isEmpty ? "" : " at " + place): \(reason); \(remedy)"
  }
}
