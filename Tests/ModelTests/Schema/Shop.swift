// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// A legal schema that uses every kind of declaration once.
enum Shop {
  static let schema = Schema(
    "shop", version: 2,
    spaces: [
      SpaceDefinition("team", root: "teams", members: .table("memberships", space: "team", user: "account")),
      SpaceDefinition("all", members: .everyone),
    ],
    features: [
      FeatureDefinition("teams", .replica, tables: [teams, memberships]),
      FeatureDefinition("people", .replica, tables: [people, notes, tags, docs, types]),
    ])

  static let teams = TableDefinition(
    "teams", columns: [ColumnDefinition("id", .text), ColumnDefinition("title", .text)],
    spaces: [.owner(column: "id", kind: "team")])

  static let memberships = TableDefinition(
    "memberships",
    columns: [ColumnDefinition("account", .text), ColumnDefinition("role", .text), ColumnDefinition("team", .text)],
    key: ["team", "account"], spaces: [.owner(column: "team", kind: "team")])

  static let people = TableDefinition(
    "people",
    columns: [
      ColumnDefinition("id", .text), ColumnDefinition("name", .text), ColumnDefinition("score", .real, optional: true),
      ColumnDefinition("team", .text, optional: true), ColumnDefinition("user_id", .text, optional: true),
      ColumnDefinition("visits", .integer, rule: .counter),
    ],
    spaces: [.owner(column: "team", kind: "team"), .owner(column: "user_id", kind: "user")], detection: .version)

  static let notes = TableDefinition(
    "notes",
    columns: [
      ColumnDefinition("id", .integer), ColumnDefinition("person", .text, optional: true),
      ColumnDefinition("text", .text),
    ],
    spaces: [.parent(column: "person", table: "people")])

  static let tags = TableDefinition(
    "tags", columns: [ColumnDefinition("id", .text), ColumnDefinition("note", .integer, optional: true)],
    spaces: [.constant("all:tags"), .parent(column: "note", table: "notes")])

  static let docs = TableDefinition(
    "docs", columns: [ColumnDefinition("id", .text), ColumnDefinition("space", .text, optional: true)],
    spaces: [.named(column: "space")])

  /// A column of each type.
  static let types = TableDefinition(
    "types",
    columns: [ColumnDefinition("id", .integer)]
      + ColumnType.allCases.map { ColumnDefinition("c_" + $0.rawValue, $0, optional: true) },
    spaces: [.constant("all:types")])

  static func catalog() throws -> Catalog { try Catalog(schema) }
}

extension Schema {
  /// The schema with one table changed.
  func changing(_ name: String, _ change: (inout TableDefinition) -> Void) -> Schema {
    var copy = self
    for feature in copy.features.indices {
      for table in copy.features[feature].tables.indices where copy.features[feature].tables[table].name == name {
        change(&copy.features[feature].tables[table])
      }
    }
    return copy
  }

  /// The schema with one column changed.
  func changing(_ table: String, _ column: String, _ change: (inout ColumnDefinition) -> Void) -> Schema {
    changing(table) { definition in
      for index in definition.columns.indices where definition.columns[index].name == column {
        change(&definition.columns[index])
      }
    }
  }

  /// The schema with one thing changed.
  func changing(_ change: (inout Schema) -> Void) -> Schema {
    var copy = self
    change(&copy)
    return copy
  }
}
