// SPDX-License-Identifier: Apache-2.0
import SkerryModel

/// The versions of an app: each adds, renames or removes something.
enum Versions {
  static let count = 5

  static func schema(_ version: Int) -> Schema {
    var notes = TableDefinition(
      version < 4 ? "notes" : "memos",
      columns: [
        ColumnDefinition("id", .text), ColumnDefinition("owner", .text),
        version < 3
          ? ColumnDefinition("title", .text, optional: true)
          : ColumnDefinition("heading", .text, optional: true, was: ["title"]),
        ColumnDefinition("visits", .integer, rule: .counter),
      ], spaces: [.owner(column: "owner", kind: "user")], was: version < 4 ? [] : ["notes"])
    if version < 3 {
      notes.columns.insert(ColumnDefinition("fax", .text, optional: true), at: 2)
    } else {
      notes.removed = ["fax"]
    }
    if version >= 2 {
      notes.columns.insert(ColumnDefinition("starred", .boolean, default: 0), at: 1)
      notes.columns.append(ColumnDefinition("color", .text, optional: true))
      notes.columns.append(ColumnDefinition("calls", .integer, rule: .counter))
    }
    // A name that was free is taken anew, by something else.
    if version >= 5 { notes.columns.append(ColumnDefinition("title", .text, optional: true)) }
    if version >= 4 { notes.indexes = [IndexDefinition(["heading"])] }
    var tables = [notes]
    if version < 5 {
      tables.append(
        TableDefinition(
          "drafts", columns: [ColumnDefinition("id", .text), ColumnDefinition("owner", .text)],
          spaces: [.owner(column: "owner", kind: "user")]))
    }
    if version >= 3 {
      tables.append(
        TableDefinition(
          "tags", columns: [ColumnDefinition("id", .text), ColumnDefinition("owner", .text)],
          spaces: [.owner(column: "owner", kind: "user")]))
    }
    let local = TableDefinition(
      "searches",
      columns: [ColumnDefinition("id", .text)]
        + (version >= 2 ? [ColumnDefinition("count", .integer, default: 1)] : []), spaces: [])
    return Schema(
      "notes", version: version, features: [FeatureDefinition("all", .replica, tables: tables)], local: [local],
      removed: version < 5 ? [] : ["drafts"])
  }

  static func table(_ version: Int) -> String { version < 4 ? "notes" : "memos" }
  static func title(_ version: Int) -> String { version < 3 ? "title" : "heading" }
}
