// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// The schema of the executable model: teams with members, items and documents in one or two spaces, notes below items and
/// parts below notes, documents with a version check.
extension Schema {
  package static let model = Schema(
    "model", version: 1,
    spaces: [SpaceDefinition("team", root: "team", members: .table("member", space: "team", user: "user"))],
    features: [
      FeatureDefinition(
        "all", .replica,
        tables: [
          owned("doc", detection: .version), owned("item"),
          TableDefinition(
            "member", columns: common + [ColumnDefinition("team", .text), ColumnDefinition("user", .text)],
            spaces: [.owner(column: "team", kind: "team")]),
          child("note", of: "item"), child("part", of: "note"),
          TableDefinition("team", columns: common, spaces: [.owner(column: "id", kind: "team")]),
        ])
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
}
