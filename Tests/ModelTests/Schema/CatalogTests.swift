// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import Testing

@Suite("The catalog") struct CatalogTests {
  private let catalog: Catalog

  init() throws { catalog = try Shop.catalog() }

  @Test func `tables are found by the bytes of their names`() {
    #expect(catalog.table("people")?.name == "people")
    for name in ["People", "people ", "", "peoplé", "people\u{301}", "plants"] { #expect(catalog.table(name) == nil) }
    #expect(catalog.tables.map(\.name) == ["docs", "memberships", "notes", "people", "tags", "teams", "types"])
  }

  @Test func `columns are found by the bytes of their names`() throws {
    let people = try #require(catalog.table("people"))
    #expect(people.index(of: "score") == 2)
    #expect(people.index(of: "Score") == nil)
    #expect(people.index(of: "score\u{301}") == nil)
    #expect(
      people.columnsByName.map { people.columns[$0].name } == ["id", "name", "score", "team", "user_id", "visits"])
    #expect(people.checksVersion)
    #expect(catalog.table("docs")?.checksVersion == false)
  }

  @Test func `a key takes the key columns in the declared order`() throws {
    let memberships = try #require(catalog.table("memberships"))
    #expect(memberships.keyColumns == [2, 0])
    #expect(memberships.key(of: ["ana", "lead", "north"]) == RowKey("memberships", "north", "ana"))
  }

  @Test func `children, roots and memberships are known`() throws {
    #expect(catalog.children["people"]?.map(\.table.name) == ["notes"])
    #expect(catalog.children["people"]?.map(\.column) == [1])
    #expect(catalog.children["notes"]?.map(\.table.name) == ["tags"])
    #expect(catalog.children["tags"] == nil)
    #expect(catalog.table("teams")?.rootOf == ["team"])
    #expect(catalog.table("people")?.rootOf == [])
    let membership = try #require(catalog.table("memberships")?.memberships.first)
    #expect(membership.kind == "team")
    #expect(membership.space == 2)
    #expect(membership.user == 0)
    #expect(catalog.table("teams")?.memberships.isEmpty == true)
    #expect(catalog.spaceKinds["team"]?.root == "teams")
  }

  @Test func `open spaces are the constants whose kind is everyone's`() throws {
    #expect(catalog.openSpaces == ["all:tags", "all:types"])
    let closed = Shop.schema.changing("docs") { $0.spaces = [.constant("team:fixed")] }
    #expect(try Catalog(closed).openSpaces == ["all:tags", "all:types"])
  }
}
