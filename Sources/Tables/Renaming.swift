// SPDX-License-Identifier: Apache-2.0

/// Names that change in a database.
package enum Renaming {
  /// Statements that give things new names, by way of names that nothing has: a name may be taken by another, and two may change
  /// places.
  ///
  /// - Parameter statement: gives one thing another name; both are unquoted.
  package static func statements(
    _ names: [(old: String, new: String)], _ statement: (String, String) -> String
  ) -> [String] {
    func between(_ index: Int) -> String { "skerry_moving_\(index)" }
    return names.enumerated().map { statement($1.old, between($0)) }
      + names.enumerated().map { statement(between($0), $1.new) }
  }

  /// The same for the columns of a table.
  package static func statements(columns names: [(old: String, new: String)], of table: String) -> [String] {
    statements(names) { old, new in
      "ALTER TABLE \(TableSQL.quoted(table)) RENAME COLUMN \(TableSQL.quoted(old)) TO \(TableSQL.quoted(new))"
    }
  }
}
