// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
import SkerryRecords

extension Schema {
  /// What `skerry simulate` runs through without a schema of one's own: everything that a declaration can say today. Teams
  /// with members, items and documents in one or two spaces, notes below items and parts below notes, documents with a
  /// version check, stock with a composite key, sheets of all column types, and notices for everyone.
  package static let simulated = Schema(
    "simulated", version: 1,
    spaces: [
      SpaceDefinition("team", root: "team", members: .table("member", space: "team", user: "user")),
      SpaceDefinition("public", members: .everyone),
    ],
    features: [
      FeatureDefinition(
        "work", .replica,
        tables: [
          Doc.table.definition, Item.table.definition, Member.table.definition, Note.table.definition,
          Part.table.definition, Team.table.definition,
        ]),
      FeatureDefinition("store", .replica, tables: [Stock.table.definition, sheet, Notice.table.definition]),
    ])

  /// A table of which there is no record: its people write it by the names of its columns, values of all types as they come.
  private static let sheet = TableDefinition(
    "sheet",
    columns: [
      ColumnDefinition("id", .uuid), ColumnDefinition("owner", .text), ColumnDefinition("size", .real, optional: true),
      ColumnDefinition("open", .boolean), ColumnDefinition("data", .blob, optional: true),
      ColumnDefinition("more", .json, optional: true), ColumnDefinition("at", .timestamp),
      ColumnDefinition("price", .decimal, optional: true), ColumnDefinition("day", .date, optional: true),
      ColumnDefinition("whole", .integer, optional: true),
    ], spaces: [.owner(column: "owner", kind: "user")])
}
