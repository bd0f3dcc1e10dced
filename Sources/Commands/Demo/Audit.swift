// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
import SkerrySQLiteKit

/// Counts and digests of an app's rows in a database file, by a full scan that knows nothing of how Skerry keeps them.
package struct Audit: Equatable {
  /// Rows by table.
  package private(set) var counts: [String: Int] = [:]
  /// Over every value of every row.
  package private(set) var digest = ""

  /// Scans a server's or a device's file; only the app's own columns are read.
  package init(_ path: String, _ schema: Schema) throws {
    let connection = try SQLiteConnection(path: path, mode: .reader)
    var hasher = SHA256()
    try connection.transaction(.deferred) {
      for table in schema.features.flatMap(\.tables).sorted(by: { $0.name < $1.name }) {
        let columns = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
        let order = table.key.map { "\"\($0)\"" }.joined(separator: ", ")
        let rows = try connection.query("SELECT \(columns) FROM \"\(table.name)\" ORDER BY \(order)") { row in
          table.columns.indices.map { "\(table.columns[$0].name)=\(Audit.text(row.value($0)))" }
        }
        counts[table.name] = rows.count
        // Lengths in front, so that no two contents run together to the same bytes.
        for part in rows.joined() { hasher.update(Array("\(table.name):\(part.utf8.count):\(part)\n".utf8)) }
      }
    }
    digest = Hex.text(hasher.finish())
  }

  private static func text(_ value: SQLiteValue) -> String {
    switch value {
    case .null: "null"
    case .integer(let number): "i\(number)"
    case .real(let number): "r\(number.bitPattern)"
    case .text(let text): "t\(text)"
    case .blob(let bytes): "b\(Hex.text(bytes))"
    }
  }
}
