// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import Testing

/// A declaration that must be refused, and where the error must point.
struct IllegalSchema: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let schema: Schema
  var table: String?
  var column: String?

  init(_ description: String, _ schema: Schema, _ table: String? = nil, _ column: String? = nil) {
    testDescription = description
    self.schema = schema
    self.table = table
    self.column = column
  }
}

@Suite("What a schema may not say") struct SchemaCheckTests {
  @Test func `the legal schema is legal`() throws { _ = try Catalog(Shop.schema) }

  @Test(arguments: whole + names + keys + counters + rules + spaces + columns + indexes + locals + history)
  func `an illegal declaration is refused with place, reason and remedy`(illegal: IllegalSchema) {
    let error = #expect(throws: SchemaError.self) { try Catalog(illegal.schema) }
    #expect(error?.table == illegal.table)
    #expect(error?.column == illegal.column)
    #expect(error?.reason.isEmpty == false)
    #expect(error?.remedy.isEmpty == false)
    for part in [error?.table, error?.column, error?.reason, error?.remedy] {
      if let part { #expect(error?.description.contains(part) == true) }
    }
  }

  private static let shop = Shop.schema

  static let whole = [
    IllegalSchema("version 0", shop.changing { $0.version = 0 }),
    IllegalSchema("version -1", shop.changing { $0.version = -1 }),
    IllegalSchema("no features", shop.changing { $0.features = [] }),
    IllegalSchema("no tables", shop.changing { for index in $0.features.indices { $0.features[index].tables = [] } }),
    IllegalSchema("feature twice", shop.changing { $0.features[1].name = "teams" }),
    IllegalSchema("table twice", shop.changing { $0.features[1].tables.append(Shop.docs) }),
    IllegalSchema("table in two features", shop.changing { $0.features[0].tables.append(Shop.docs) }),
    IllegalSchema("space kind twice", shop.changing { $0.spaces.append(SpaceDefinition("all", members: .everyone)) }),
    IllegalSchema("kind user", shop.changing { $0.spaces.append(SpaceDefinition("user", members: .everyone)) }),
    IllegalSchema("kind replica", shop.changing { $0.spaces.append(SpaceDefinition("replica", members: .everyone)) }),
    IllegalSchema("no columns", shop.changing("docs") { $0.columns = [] }, "docs"),
    IllegalSchema("column twice", shop.changing("docs") { $0.columns.append(ColumnDefinition("id", .blob)) }, "docs"),
    IllegalSchema(
      "501 columns", shop.changing("docs") { $0.columns += (0..<499).map { ColumnDefinition("c\($0)", .text) } }, "docs"
    ),
    IllegalSchema("in no space", shop.changing("docs") { $0.spaces = [] }, "docs"),
  ]

  /// Each bad name in each place where a name stands.
  static let names: [IllegalSchema] = [
    "", "A", "people ", " people", "1st", "_x", "é", "\u{212A}", "a-b", "a.b", "a\"b", "a;b", "a\u{0}", "naïve",
    "select*",
    String(repeating: "a", count: 49), "skerry_x", "sqlite_x", "a\u{301}",
  ].flatMap { bad in
    [
      IllegalSchema("app '\(bad)'", shop.changing { $0.name = bad }),
      IllegalSchema("feature '\(bad)'", shop.changing { $0.features[0].name = bad }),
      IllegalSchema("kind '\(bad)'", shop.changing { $0.spaces.append(SpaceDefinition(bad, members: .everyone)) }),
      IllegalSchema("table '\(bad)'", shop.changing("docs") { $0.name = bad }, bad),
      IllegalSchema("column '\(bad)'", shop.changing("types", "c_date") { $0.name = bad }, "types", bad),
    ]
  }

  static let keys = [
    IllegalSchema("no key", shop.changing("docs") { $0.key = [] }, "docs"),
    IllegalSchema("key twice", shop.changing("docs") { $0.key = ["id", "id"] }, "docs"),
    IllegalSchema("key unknown", shop.changing("docs") { $0.key = ["ID"] }, "docs", "ID"),
    IllegalSchema("key optional", shop.changing("docs") { $0.key = ["id", "space"] }, "docs", "space"),
    IllegalSchema("key real", shop.changing("docs", "id") { $0.type = .real }, "docs", "id"),
    IllegalSchema("key json", shop.changing("docs", "id") { $0.type = .json }, "docs", "id"),
    IllegalSchema(
      "key counter",
      shop.changing("docs", "id") {
        $0.type = .integer
        $0.rule = .counter
      }, "docs", "id"),
  ]

  /// A counter of every type but integer, and one that may be null.
  static let counters: [IllegalSchema] =
    ColumnType.allCases.filter { $0 != .integer }.map { type in
      IllegalSchema("counter \(type)", shop.changing("people", "visits") { $0.type = type }, "people", "visits")
    } + [
      IllegalSchema("counter optional", shop.changing("people", "visits") { $0.isOptional = true }, "people", "visits")
    ]

  static let rules: [IllegalSchema] =
    [
      IllegalSchema(
        "owner unknown column", shop.changing("docs") { $0.spaces = [.owner(column: "x", kind: "team")] }, "docs", "x"),
      IllegalSchema(
        "owner unknown kind", shop.changing("docs") { $0.spaces = [.owner(column: "space", kind: "club")] }, "docs",
        "space"),
      IllegalSchema(
        "owner kind replica", shop.changing("docs") { $0.spaces = [.owner(column: "space", kind: "replica")] }, "docs",
        "space"),
      IllegalSchema("named unknown column", shop.changing("docs") { $0.spaces = [.named(column: "x")] }, "docs", "x"),
      IllegalSchema("constant unknown kind", shop.changing("docs") { $0.spaces = [.constant("club:x")] }, "docs"),
      IllegalSchema("constant user", shop.changing("docs") { $0.spaces = [.constant("user:ana")] }, "docs"),
      IllegalSchema("constant replica", shop.changing("docs") { $0.spaces = [.constant("replica:r")] }, "docs"),
      IllegalSchema("constant without id", shop.changing("docs") { $0.spaces = [.constant("all:")] }, "docs"),
      IllegalSchema("constant without colon", shop.changing("docs") { $0.spaces = [.constant("all")] }, "docs"),
      IllegalSchema(
        "parent unknown column", shop.changing("notes") { $0.spaces = [.parent(column: "x", table: "people")] },
        "notes", "x"),
      IllegalSchema(
        "parent unknown table", shop.changing("notes") { $0.spaces = [.parent(column: "person", table: "x")] }, "notes",
        "person"),
      IllegalSchema(
        "parent of another type", shop.changing("notes") { $0.spaces = [.parent(column: "id", table: "people")] },
        "notes",
        "id"),
      IllegalSchema(
        "parent with a composite key",
        shop.changing("notes") { $0.spaces = [.parent(column: "person", table: "memberships")] }, "notes", "person"),
      IllegalSchema(
        "its own parent", shop.changing("people") { $0.spaces = [.parent(column: "team", table: "people")] }, "people",
        "team"),
      IllegalSchema(
        "a ring of parents",
        shop.changing("people") { $0.spaces = [.parent(column: "team", table: "docs")] }
          .changing("docs") { $0.spaces = [.parent(column: "space", table: "people")] },
        "docs", "space"),
    ]
    + ColumnType.allCases.filter { $0 != .text && $0 != .uuid }.map { type in
      IllegalSchema("owner in a \(type) column", shop.changing("docs", "space") { $0.type = type }, "docs", "space")
    }

  static let spaces = [
    IllegalSchema("root unknown", shop.changing { $0.spaces[0].root = "x" }, "x"),
    IllegalSchema("root not in its space", shop.changing { $0.spaces[0].root = "docs" }, "docs"),
    IllegalSchema("root with a composite key", shop.changing { $0.spaces[0].root = "memberships" }, "memberships"),
    IllegalSchema("root of another kind", shop.changing { $0.spaces[1].root = "teams" }, "teams"),
    IllegalSchema(
      "members unknown", shop.changing { $0.spaces[0].members = .table("x", space: "team", user: "account") }, "x"),
    IllegalSchema(
      "members without the space column",
      shop.changing { $0.spaces[0].members = .table("memberships", space: "x", user: "account") }, "memberships", "x"),
    IllegalSchema(
      "members without the user column",
      shop.changing { $0.spaces[0].members = .table("memberships", space: "team", user: "x") }, "memberships", "x"),
    IllegalSchema(
      "members by a number",
      shop.changing { $0.spaces[0].members = .table("notes", space: "id", user: "person") }, "notes", "id"),
    IllegalSchema(
      "members outside the space",
      shop.changing { $0.spaces[0].members = .table("docs", space: "space", user: "id") }, "docs", "space"),
  ]

  @Test func `names at the edge of the rules are legal`() throws {
    for name in ["a", String(repeating: "a", count: 48), "a_1", "skerry", "sqlite", "z9_", "order", "select"] {
      _ = try Catalog(Shop.schema.changing("types", "c_date") { $0.name = name })
    }
  }

  @Test func `two parents that meet again are no ring`() throws {
    _ = try Catalog(
      Shop.schema.changing("tags") { table in
        table.columns += [ColumnDefinition("person", .text, optional: true)]
        table.spaces = [.parent(column: "note", table: "notes"), .parent(column: "person", table: "people")]
      })
  }
}
