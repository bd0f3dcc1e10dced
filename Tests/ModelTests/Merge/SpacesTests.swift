// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import Testing

@Suite("In which spaces a row is") struct SpacesTests {
  private let catalog: Catalog
  private let rows: [RowKey: [Value]] = [
    RowKey("people", "both"): ["both", "A", nil, "north", "ana", 0],
    RowKey("people", "team"): ["team", "A", nil, "south", nil, 0],
    RowKey("people", "none"): ["none", "A", nil, nil, nil, 0],
    RowKey("notes", 1): [1, "both", "x"], RowKey("notes", 2): [2, "none", "x"], RowKey("notes", 3): [3, "lost", "x"],
    RowKey("notes", 4): [4, nil, "x"],
    RowKey("tags", "a"): ["a", 1], RowKey("tags", "b"): ["b", 3], RowKey("tags", "c"): ["c", nil],
    RowKey("tags", "d"): ["d", 99],
  ]

  init() throws { catalog = try Shop.catalog() }

  private func spaces(_ key: RowKey) throws -> Set<SpaceID> { try Spaces(catalog) { rows[$0] }.spaces(of: key) }

  @Test func `owner columns name spaces, and null names none`() throws {
    #expect(try spaces(RowKey("people", "both")) == ["team:north", "user:ana"])
    #expect(try spaces(RowKey("people", "team")) == ["team:south"])
    #expect(try spaces(RowKey("people", "none")).isEmpty)
  }

  @Test func `children are where their parents are, down a chain`() throws {
    #expect(try spaces(RowKey("notes", 1)) == ["team:north", "user:ana"])
    #expect(try spaces(RowKey("tags", "a")) == ["all:tags", "team:north", "user:ana"])
  }

  @Test func `a chain that breaks off adds nothing`() throws {
    #expect(try spaces(RowKey("notes", 2)).isEmpty)
    #expect(try spaces(RowKey("notes", 3)).isEmpty)
    #expect(try spaces(RowKey("notes", 4)).isEmpty)
    for tag in ["b", "c", "d"] { #expect(try spaces(RowKey("tags", .text(tag))) == ["all:tags"]) }
  }

  @Test func `a row that is not there is in no space`() throws {
    #expect(try spaces(RowKey("people", "lost")).isEmpty)
    #expect(try spaces(RowKey("plants", 1)).isEmpty)
  }

  @Test func `a column may name any space but a device's own`() throws {
    let docs = try #require(catalog.table("docs"))
    func own(_ space: Value) -> Set<SpaceID> { Spaces.own(of: ["d", space], in: docs) }
    #expect(own("team:north") == ["team:north"])
    #expect(own("user:ana") == ["user:ana"])
    #expect(own(nil).isEmpty)
    #expect(own("replica:r1").isEmpty)
    #expect(own("replica:").isEmpty)
  }

  @Test func `own spaces leave the parents out`() throws {
    let tags = try #require(catalog.table("tags"))
    #expect(Spaces.own(of: ["a", 1], in: tags) == ["all:tags"])
  }

  @Test func `ids that only look alike are different spaces`() throws {
    let people = try #require(catalog.table("people"))
    let values: [Value] = ["x", "A", nil, "\u{212A}", "e\u{301}", 0]
    let own = Spaces.own(of: values, in: people)
    #expect(own.contains("team:\u{212A}"))
    #expect(!own.contains("team:K"))
    #expect(own.contains("user:e\u{301}"))
    #expect(!own.contains("user:\u{E9}"))
  }

  @Test func `a parent is the row whose key the column holds`() throws {
    let tags = try #require(catalog.table("tags"))
    #expect(Spaces.parent(of: ["a", 1], by: tags.spaces[1], in: tags) == RowKey("notes", 1))
    #expect(Spaces.parent(of: ["a", nil], by: tags.spaces[1], in: tags) == nil)
    #expect(Spaces.parent(of: ["a", 1], by: tags.spaces[0], in: tags) == nil)
  }

  @Test func `an error while reading a parent is passed on`() throws {
    struct Broken: Error {}
    let spaces = Spaces(catalog) { key in
      if key.table == "people" { throw Broken() }
      return rows[key]
    }
    #expect(throws: Broken.self) { try spaces.spaces(of: RowKey("notes", 1)) }
    #expect(try spaces.spaces(of: RowKey("notes", 4)).isEmpty)
  }
}
