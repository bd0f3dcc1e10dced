// SPDX-License-Identifier: Apache-2.0
import SkerryModel

/// Teams with members, items in spaces, notes below items: what the scripted history needs, and no more.
extension Schema {
  static let small = Schema(
    "small", version: 1,
    spaces: [SpaceDefinition("team", root: "team", members: .table("member", space: "team", user: "user"))],
    features: [
      FeatureDefinition(
        "all", .replica,
        tables: [
          TableDefinition(
            "item",
            columns: common + [
              ColumnDefinition("home", .text, optional: true), ColumnDefinition("also", .text, optional: true),
            ], spaces: [.named(column: "home"), .named(column: "also")]),
          TableDefinition(
            "member",
            columns: [ColumnDefinition("id", .text), ColumnDefinition("team", .text), ColumnDefinition("user", .text)],
            spaces: [.owner(column: "team", kind: "team")]),
          TableDefinition(
            "note", columns: common + [ColumnDefinition("parent", .text)],
            spaces: [.parent(column: "parent", table: "item")]),
          TableDefinition(
            "team", columns: [ColumnDefinition("id", .text)], spaces: [.owner(column: "id", kind: "team")]),
        ])
    ])

  private static let common = [
    ColumnDefinition("id", .text), ColumnDefinition("a", .text, optional: true),
    ColumnDefinition("n", .integer, rule: .counter),
  ]
}
