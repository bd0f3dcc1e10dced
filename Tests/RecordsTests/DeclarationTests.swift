// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel
import SkerryRecords
import SkerryTestSupport
import Testing

@Suite("Schemas as records") struct DeclarationTests {
  @Test func `a legal schema is one`() throws {
    let catalog = try Catalog(Crm.schema)
    #expect(catalog.tables.map(\.name) == ["members", "people", "quotes", "teams"])
    #expect(catalog.localTables.map(\.name) == ["searches"])
    #expect(catalog.localTables.map(\.number) == [4])
    #expect(catalog.table("searches") == nil)
  }

  @Test func `it is the same value as JSON, there and back`() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(Crm.schema)
    let read = try JSONDecoder().decode(Schema.self, from: data)
    #expect(read == Crm.schema)
    #expect(read.fingerprint == Crm.schema.fingerprint)
    #expect(try encoder.encode(read) == data)
  }

  @Test func `columns have the types and options of their properties`() throws {
    let people = Crm.Person.table.definition
    let types = Dictionary(uniqueKeysWithValues: people.columns.map { ($0.name, $0) })
    #expect(people.columns.map(\.name).first == "id")
    #expect(types["id"] == ColumnDefinition("id", .uuid))
    #expect(
      types["team"] == ColumnDefinition("team", .uuid, references: ReferenceDefinition("teams", onDelete: .cascade)))
    #expect(
      types["manager"]
        == ColumnDefinition(
          "manager", .uuid, optional: true, references: ReferenceDefinition("people", onDelete: .setNull)))
    #expect(types["address"] == ColumnDefinition("address", .json, optional: true))
    #expect(types["born"] == ColumnDefinition("born", .date, optional: true))
    #expect(types["seen"] == ColumnDefinition("seen", .timestamp, optional: true))
    #expect(types["salary"] == ColumnDefinition("salary", .decimal, optional: true))
    #expect(types["photo"] == ColumnDefinition("photo", .blob, optional: true))
    #expect(types["score"] == ColumnDefinition("score", .real, optional: true))
    #expect(types["is_active"] == ColumnDefinition("is_active", .boolean, default: 1))
    #expect(types["visits"] == ColumnDefinition("visits", .integer, rule: .counter))
    #expect(people.indexes == [IndexDefinition(["team", "email"], unique: true), IndexDefinition(["name"])])
    #expect(Crm.Quote.table.definition.detection == .version)
    #expect(Crm.Quote.table.definition.spaces == [.parent(column: "person", table: "people")])
    #expect(
      Crm.Quote.table.definition.columns[2]
        == ColumnDefinition(
          "number", .text, optional: true, rule: .lateBound, placeholder: "'DRAFT-' || substr(id, -6)"))
  }

  @Test func `each way to put rows into spaces is a rule`() throws {
    struct Note: Record {
      var id = RowID<Note>()
      var owner: String?
      var space: String?
      var person: RowID<Crm.Person>?
      static let table = TableSchema<Note>("notes", id: .text) {
        Column("owner", \.owner)
        Column("space", \.space)
        Column("person", \.person, as: .text)
      }.space("user", by: \.owner).space(named: \.space).space("all:notes").space(of: \.person)
    }
    #expect(
      Note.table.definition.spaces == [
        .owner(column: "owner", kind: "user"), .named(column: "space"), .constant("all:notes"),
        .parent(column: "person", table: "people"),
      ])
    #expect(Note.table.definition.columns[0] == ColumnDefinition("id", .text))
    #expect(Note.table.definition.columns[3].type == .text)
  }

  @Test func `names of before and what was removed are declared`() throws {
    struct Memo: Record {
      var id = RowID<Memo>()
      var heading: String?
      static let table = TableSchema<Memo>("memos") { Column("heading", \.heading, was: ["title"]) }
        .space("all:memos").was("notes", "jottings").removed("fax")
    }
    let schema = Schema("app", version: 7) {
      Space(everyone: "all")
      Feature("f", .replica) { Memo.table }
      RemovedTables("drafts")
    }
    _ = try Catalog(schema)
    #expect(schema.removed == ["drafts"])
    #expect(Memo.table.definition.formerNames == ["notes", "jottings"])
    #expect(Memo.table.definition.removed == ["fax"])
    #expect(Memo.table.definition.columns[1].formerNames == ["title"])
    #expect(try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(schema)) == schema)
  }

  // MARK: What a record may not say

  struct WrongName: Record {
    var id = RowID<WrongName>()
    var name = ""
    static let table = TableSchema<WrongName>("t") { Column("nmae", \.name) }.space("all:x")
  }

  struct Forgotten: Record {
    var id = RowID<Forgotten>()
    var name = ""
    var note: String?
    static let table = TableSchema<Forgotten>("t") { Column("name", \.name) }.space("all:x")
  }

  struct Needed: Record {
    var id = RowID<Needed>()
    var name = ""
    var note: String
    static let table = TableSchema<Needed>("t") { Column("name", \.name) }.space("all:x")
  }

  struct MixedUp: Record {
    var id = RowID<MixedUp>()
    var first = ""
    var last = ""
    static let table = TableSchema<MixedUp>("t") {
      Column("first", \.last)
      Column("last", \.first)
    }.space("all:x")
  }

  struct Booleans: Record {
    var id = RowID<Booleans>()
    var isOpen = false
    var isSent = false
    static let table = TableSchema<Booleans>("t") {
      Column("is_open", \.isSent)
      Column("is_sent", \.isOpen)
    }.space("all:x")
    enum CodingKeys: String, CodingKey {
      case id
      case isOpen = "is_open"
      case isSent = "is_sent"
    }
  }

  struct Computed: Record {
    var id = RowID<Computed>()
    var name = ""
    var loud: String { name.uppercased() }
    static let table = TableSchema<Computed>("t") {
      Column("name", \.loud)
    }.space("all:x")
  }

  struct WrongType: Record {
    var id = RowID<WrongType>()
    var count = 0
    static let table = TableSchema<WrongType>("t") { Column("count", \.count, as: .blob) }.space("all:x")
  }

  struct Strange: Record {
    var id = RowID<Strange>()
    var name = ""
    var other = ""
    static let table = TableSchema<Strange>("t") { Column("name", \.name) }.space("team", by: \.other)
  }

  struct Infinite: Record {
    var id = RowID<Infinite>()
    var at = Date()
    static let table = TableSchema<Infinite>("t") {
      Column("at", \.at, default: Date(timeIntervalSince1970: .infinity))
    }.space("all:x")
  }

  enum Stage: String, ColumnValue, Codable {
    case draft
    static var examples: [Stage] { [] }
  }

  struct WithoutExamples: Record {
    var id = RowID<WithoutExamples>()
    var stage = Stage.draft
    static let table = TableSchema<WithoutExamples>("t") { Column("stage", \.stage) }.space("all:x")
  }

  static let faults: [(DeclaredTable, column: String?, part: String)] = [
    (one { WrongName.table }, "nmae", "no property"), (one { Forgotten.table }, "note", "has no column"),
    (one { Needed.table }, "note", "has no column"),
    (one { MixedUp.table }, "first", "not the one with this coding key"),
    (one { Booleans.table }, "is_open", "not the one with this coding key"),
    (one { Computed.table }, "name", "does not keep a value"),
    (one { WrongType.table }, "count", "does not hold a Int"),
    (one { Strange.table }, nil, "has no column"), (one { Infinite.table }, "at", "default is no value"),
    (one { WithoutExamples.table }, "stage", "no example"),
  ]

  private static func one(@TablesBuilder _ tables: () -> [DeclaredTable]) -> DeclaredTable { tables()[0] }

  @Test(arguments: faults.indices)
  func `a declaration that does not fit its record is refused with place, reason and remedy`(index: Int) throws {
    let (table, column, part) = Self.faults[index]
    let schema = Schema("app", version: 1) {
      Space(everyone: "all")
      Feature("f", .replica) { [table] }
    }
    let error = try #require(throws: SchemaError.self) { try Catalog(schema) }
    #expect(error.table == "t")
    #expect(error.column == column)
    #expect(error.reason.contains(part), "\(error)")
    #expect(!error.remedy.isEmpty)
  }

  @Test func `a space whose members have no such column is refused`() throws {
    struct Lost: Record {
      var id = RowID<Lost>()
      var team = ""
      var user = ""
      static let table = TableSchema<Lost>("t") { Column("team", \.team) }.space("team", by: \.team)
      enum CodingKeys: String, CodingKey { case id, team }
    }
    let schema = Schema("app", version: 1) {
      Space("team", members: Lost.table, space: \.team, user: \.user)
      Feature("f", .replica) { Lost.table }
    }
    #expect(throws: SchemaError.self) { try Catalog(schema) }
  }
}
