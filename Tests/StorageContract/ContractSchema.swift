// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// The tables on which the conformance suite works: every column type, every kind of key, every rule for spaces.
///
/// Names are plain words that no database reserves, since other programs write the tables in these tests.
extension Schema {
  package static let contract = Schema(
    "contract", version: 1,
    spaces: [
      SpaceDefinition("team", root: "team", members: .table("member", space: "team", user: "account")),
      SpaceDefinition("city", members: .everyone),
    ],
    features: [
      FeatureDefinition("shared", .replica, tables: [team, member, item, note, reply]),
      FeatureDefinition("own", .replica, tables: [seat, ticket, place, measure, notice]),
    ])

  private static let team = TableDefinition(
    "team", columns: [ColumnDefinition("id", .text), ColumnDefinition("title", .text, optional: true)],
    spaces: [.owner(column: "id", kind: "team")])

  private static let member = TableDefinition(
    "member",
    columns: [ColumnDefinition("id", .text), ColumnDefinition("team", .text), ColumnDefinition("account", .text)],
    spaces: [.owner(column: "team", kind: "team")])

  private static let item = TableDefinition(
    "item",
    columns: [
      ColumnDefinition("title", .text, optional: true), ColumnDefinition("id", .text),
      ColumnDefinition("n", .integer, rule: .counter), ColumnDefinition("home", .text, optional: true),
      ColumnDefinition("also", .text, optional: true),
    ], spaces: [.named(column: "home"), .named(column: "also")])

  /// Two rules name the same parent table.
  private static let note = TableDefinition(
    "note",
    columns: [
      ColumnDefinition("id", .text), ColumnDefinition("item", .text, optional: true),
      ColumnDefinition("other", .text, optional: true),
    ], spaces: [.parent(column: "item", table: "item"), .parent(column: "other", table: "item")])

  private static let reply = TableDefinition(
    "reply", columns: [ColumnDefinition("id", .text), ColumnDefinition("note", .text, optional: true)],
    spaces: [.parent(column: "note", table: "note")])

  private static let seat = TableDefinition(
    "seat", columns: [ColumnDefinition("id", .integer), ColumnDefinition("owner", .text, optional: true)],
    spaces: [.owner(column: "owner", kind: "user")])

  private static let ticket = TableDefinition(
    "ticket", columns: [ColumnDefinition("id", .blob), ColumnDefinition("seat", .integer, optional: true)],
    spaces: [.parent(column: "seat", table: "seat")])

  /// A key of three columns, in another order than that of the columns.
  private static let place = TableDefinition(
    "place",
    columns: [
      ColumnDefinition("house", .integer), ColumnDefinition("street", .text), ColumnDefinition("town", .text),
      ColumnDefinition("owner", .text, optional: true),
    ], key: ["town", "street", "house"], spaces: [.owner(column: "owner", kind: "user")])

  private static let measure = TableDefinition(
    "measure",
    columns: [
      ColumnDefinition("id", .uuid), ColumnDefinition("owner", .text), ColumnDefinition("words", .text, optional: true),
      ColumnDefinition("size", .integer, optional: true), ColumnDefinition("price", .real, optional: true),
      ColumnDefinition("done", .boolean, optional: true), ColumnDefinition("bytes", .blob, optional: true),
      ColumnDefinition("detail", .json, optional: true), ColumnDefinition("moment", .timestamp, optional: true),
      ColumnDefinition("amount", .decimal, optional: true), ColumnDefinition("born", .date, optional: true),
    ], spaces: [.owner(column: "owner", kind: "user")])

  private static let notice = TableDefinition(
    "notice", columns: [ColumnDefinition("id", .text), ColumnDefinition("words", .text, optional: true)],
    spaces: [.constant("city:all")])
}
