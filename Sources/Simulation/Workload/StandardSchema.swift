// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

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
          owned("doc", detection: .version), owned("item"),
          TableDefinition(
            "member", columns: common + [ColumnDefinition("team", .text), ColumnDefinition("user", .text)],
            spaces: [.owner(column: "team", kind: "team")]),
          child("note", of: "item"), child("part", of: "note"),
          TableDefinition("team", columns: common, spaces: [.owner(column: "id", kind: "team")]),
        ]), FeatureDefinition("store", .replica, tables: [stock, sheet, notice]),
    ])

  private static let common = [
    ColumnDefinition("id", .text), ColumnDefinition("a", .text, optional: true),
    ColumnDefinition("b", .text, optional: true), ColumnDefinition("n", .integer, rule: .counter),
  ]

  private static func owned(_ name: String, detection: Detection = .none) -> TableDefinition {
    TableDefinition(
      name,
      columns: common + [
        ColumnDefinition("home", .text, optional: true), ColumnDefinition("also", .text, optional: true),
      ],
      spaces: [.named(column: "home"), .named(column: "also")], detection: detection)
  }

  private static func child(_ name: String, of parent: String) -> TableDefinition {
    TableDefinition(
      name, columns: common + [ColumnDefinition("parent", .text, optional: true)],
      spaces: [.parent(column: "parent", table: parent)])
  }

  private static let stock = TableDefinition(
    "stock",
    columns: [
      ColumnDefinition("team", .text), ColumnDefinition("code", .integer), ColumnDefinition("label", .text),
      ColumnDefinition("amount", .integer, rule: .counter),
    ], key: ["team", "code"], spaces: [.owner(column: "team", kind: "team")])

  private static let sheet = TableDefinition(
    "sheet",
    columns: [
      ColumnDefinition("id", .uuid), ColumnDefinition("owner", .text), ColumnDefinition("size", .real, optional: true),
      ColumnDefinition("open", .boolean), ColumnDefinition("data", .blob, optional: true),
      ColumnDefinition("more", .json, optional: true), ColumnDefinition("at", .timestamp),
      ColumnDefinition("price", .decimal, optional: true), ColumnDefinition("day", .date, optional: true),
      ColumnDefinition("whole", .integer, optional: true),
    ], spaces: [.owner(column: "owner", kind: "user")])

  private static let notice = TableDefinition(
    "notice", columns: [ColumnDefinition("id", .integer), ColumnDefinition("text", .text)],
    spaces: [.constant(SpaceID("public:all"))])
}
