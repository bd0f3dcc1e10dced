// SPDX-License-Identifier: Apache-2.0
import SkerryModel

/// A small app with every type of column: books of a person with loans below them, shelves that people share with boxes in
/// them, drafts that check versions, and marks with a key of two columns.
extension Schema {
  static let library = Schema(
    "library", version: 1,
    spaces: [SpaceDefinition("shelf", root: "shelf", members: .table("reader", space: "shelf", user: "user"))],
    features: [
      FeatureDefinition(
        "all", .replica,
        tables: [
          TableDefinition("book", columns: book, spaces: [.owner(column: "owner", kind: "user")]),
          TableDefinition(
            "box",
            columns: [
              ColumnDefinition("id", .text), ColumnDefinition("content", .text, optional: true),
              ColumnDefinition("shelf", .text, optional: true),
            ], spaces: [.owner(column: "shelf", kind: "shelf")]),
          TableDefinition(
            "draft",
            columns: [
              ColumnDefinition("id", .text), ColumnDefinition("body", .text, optional: true),
              ColumnDefinition("owner", .text),
            ], spaces: [.owner(column: "owner", kind: "user")], detection: .version),
          TableDefinition(
            "loan",
            columns: [
              ColumnDefinition("id", .text), ColumnDefinition("book", .text),
              ColumnDefinition("who", .text, optional: true),
            ], spaces: [.parent(column: "book", table: "book")]),
          TableDefinition(
            "mark",
            columns: [
              ColumnDefinition("book", .text), ColumnDefinition("page", .integer),
              ColumnDefinition("text", .text, optional: true), ColumnDefinition("owner", .text),
            ], key: ["book", "page"], spaces: [.owner(column: "owner", kind: "user")]),
          TableDefinition(
            "reader",
            columns: [
              ColumnDefinition("id", .text), ColumnDefinition("shelf", .text), ColumnDefinition("user", .text),
            ],
            spaces: [.owner(column: "shelf", kind: "shelf")]),
          TableDefinition(
            "shelf", columns: [ColumnDefinition("id", .text), ColumnDefinition("name", .text, optional: true)],
            spaces: [.owner(column: "id", kind: "shelf")]),
        ])
    ])

  private static let book = [
    ColumnDefinition("id", .text), ColumnDefinition("owner", .text), ColumnDefinition("title", .text, optional: true),
    ColumnDefinition("pages", .integer, optional: true), ColumnDefinition("rating", .real, optional: true),
    ColumnDefinition("isread", .boolean, optional: true), ColumnDefinition("cover", .blob, optional: true),
    ColumnDefinition("meta", .json, optional: true), ColumnDefinition("added", .timestamp, optional: true),
    ColumnDefinition("price", .decimal, optional: true), ColumnDefinition("due", .date, optional: true),
    ColumnDefinition("code", .uuid, optional: true), ColumnDefinition("copies", .integer, rule: .counter),
  ]

  /// The same app one version later.
  static var nextLibrary: Schema {
    var schema = library
    schema.version = 2
    return schema
  }
}
