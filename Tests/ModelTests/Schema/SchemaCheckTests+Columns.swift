// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// Defaults, late binding, references, indexes and local tables that must be refused.
extension SchemaCheckTests {
  private static let shop = Shop.schema

  /// A value of each class that no column of a type takes.
  private static let misfits: [(ColumnType, Value)] = [
    (.text, 1), (.text, "a\u{0}"), (.integer, "1"), (.integer, 1.5), (.real, "x"), (.real, .real(.nan)), (.boolean, 2),
    (.boolean, "true"), (.blob, "00"), (.json, 1), (.timestamp, "now"), (.decimal, "1,5"), (.decimal, 1),
    (.date, "2024-02-30"), (.date, 20_240_101), (.uuid, "x"),
  ]

  static let columns: [IllegalSchema] =
    misfits.map { type, value in
      IllegalSchema(
        "\(type) with the default \(value)", shop.changing("types", "c_" + type.rawValue) { $0.defaultValue = value },
        "types", "c_" + type.rawValue)
    }
    + ColumnType.allCases.map { type in
      IllegalSchema(
        "\(type) with a null default", shop.changing("types", "c_" + type.rawValue) { $0.defaultValue = .null },
        "types", "c_" + type.rawValue)
    } + [
      IllegalSchema("a key with a default", shop.changing("docs", "id") { $0.defaultValue = "x" }, "docs", "id"),
      IllegalSchema(
        "a counter with a default", shop.changing("people", "visits") { $0.defaultValue = 1 }, "people", "visits"),
      IllegalSchema(
        "late-bound with a default",
        shop.changing("people", "score") {
          $0.rule = .lateBound
          $0.defaultValue = 1.5
        }, "people", "score"),
      IllegalSchema(
        "late-bound, not optional", shop.changing("people", "name") { $0.rule = .lateBound }, "people", "name"),
      IllegalSchema("a late-bound key", shop.changing("docs", "id") { $0.rule = .lateBound }, "docs", "id"),
      IllegalSchema(
        "a late-bound owner", shop.changing("people", "team") { $0.rule = .lateBound }, "people", "team"),
      IllegalSchema(
        "a placeholder for nothing", shop.changing("people", "name") { $0.placeholder = "'x'" }, "people", "name"),
      IllegalSchema(
        "an empty placeholder",
        shop.changing("people", "score") {
          $0.rule = .lateBound
          $0.placeholder = " "
        }, "people", "score"),
      reference("to no table", ReferenceDefinition("plants"), "notes", "person"),
      reference("to a table of another key", ReferenceDefinition("notes"), "notes", "person"),
      reference("to a composite key", ReferenceDefinition("memberships"), "notes", "person"),
      reference("that is null where it may not be", ReferenceDefinition("people", onDelete: .setNull), "docs", "id"),
      IllegalSchema(
        "a late-bound reference",
        shop.changing("docs", "space") {
          $0.rule = .lateBound
          $0.reference = ReferenceDefinition("people")
        }.changing("docs") { $0.spaces = [.constant("all:docs")] }, "docs", "space"),
    ]

  private static func reference(
    _ title: String, _ reference: ReferenceDefinition, _ table: String, _ column: String
  ) -> IllegalSchema {
    IllegalSchema("a reference \(title)", shop.changing(table, column) { $0.reference = reference }, table, column)
  }

  static let indexes: [IllegalSchema] = [
    index("without columns", [], column: nil), index("over no column", ["x"], column: "x"),
    index("over one column twice", ["name", "name"], column: nil),
    IllegalSchema(
      "an index twice",
      shop.changing("people") { $0.indexes = [IndexDefinition(["name"]), IndexDefinition(["name"], unique: true)] },
      "people"
    ),
    index("unique over a counter", ["visits"], isUnique: true, column: "visits"),
    index("unique over a real", ["name", "score"], isUnique: true, column: "score"),
  ]

  private static func index(
    _ title: String, _ columns: [String], isUnique: Bool = false, column: String?
  ) -> IllegalSchema {
    IllegalSchema(
      "an index \(title)", shop.changing("people") { $0.indexes = [IndexDefinition(columns, unique: isUnique)] },
      "people",
      column)
  }

  static let locals: [IllegalSchema] = [
    local("of a name that is taken", nil) { $0.name = "docs" },
    local("of a bad name", "Drafts") { $0.name = "Drafts" },
    local("without columns", "drafts") { $0.columns = [] }, local("without a key", "drafts") { $0.key = [] },
    local("with a space", "drafts") { $0.spaces = [.constant("all:x")] },
    local("that checks versions", "drafts") { $0.detection = .version },
    local("with a counter", "drafts", "n") { $0.columns[1].rule = .counter },
    local("with a late-bound column", "drafts", "n") {
      $0.columns[1].rule = .lateBound
      $0.columns[1].isOptional = true
    },
    local("with a reference", "drafts", "id") { $0.columns[0].reference = ReferenceDefinition("people") },
  ]

  static let history: [IllegalSchema] = [
    IllegalSchema("a former name that is in use", shop.changing("docs") { $0.formerNames = ["people"] }, "docs"),
    IllegalSchema(
      "a removed column that is declared", shop.changing("docs") { $0.removed = ["space"] }, "docs", "space"),
    IllegalSchema("a removed table that is declared", shop.changing { $0.removed = ["docs"] }, "docs"),
    IllegalSchema(
      "one former column twice",
      shop.changing("people", "name") { $0.formerNames = ["full"] }.changing("people", "score") {
        $0.formerNames = ["full"]
      },
      "people"),
    IllegalSchema(
      "one former table twice",
      shop.changing("docs") { $0.formerNames = ["pages"] }.changing("tags") { $0.formerNames = ["pages"] }),
    IllegalSchema(
      "a former column that is removed, too",
      shop.changing("docs", "space") { $0.formerNames = ["place"] }.changing("docs") { $0.removed = ["place"] }, "docs"),
  ]

  private static func local(
    _ title: String, _ table: String?, _ column: String? = nil, _ edit: (inout TableDefinition) -> Void
  ) -> IllegalSchema {
    var drafts = TableDefinition(
      "drafts", columns: [ColumnDefinition("id", .text), ColumnDefinition("n", .integer)], spaces: [])
    edit(&drafts)
    return IllegalSchema("a local table \(title)", shop.changing { $0.local = [drafts] }, table, column)
  }
}
