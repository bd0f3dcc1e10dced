// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel
import Testing

@Suite("Schemas as JSON") struct SchemaTests {
  @Test func `a schema goes there and back`() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(Shop.schema)
    let read = try JSONDecoder().decode(Schema.self, from: data)
    #expect(read == Shop.schema)
    #expect(try encoder.encode(read) == data)
    _ = try Catalog(read)
  }

  @Test func `what has a default may be left out`() throws {
    let text = """
      {"name": "tiny", "version": 1, "spaces": [{"kind": "all", "members": {"everyone": true}}],
       "features": [{"name": "words", "level": "replica", "tables": [
         {"name": "words", "columns": [{"name": "id", "type": "uuid"}], "spaces": [{"constant": "all:x"}]}]}]}
      """
    let words = TableDefinition("words", columns: [ColumnDefinition("id", .uuid)], spaces: [.constant("all:x")])
    let expected = Schema(
      "tiny", version: 1, spaces: [SpaceDefinition("all", members: .everyone)],
      features: [FeatureDefinition("words", .replica, tables: [words])])
    #expect(try JSONDecoder().decode(Schema.self, from: Data(text.utf8)) == expected)
  }

  @Test func `each rule has its form`() throws {
    let rules: [(String, SpaceRule)] = [
      (#"{"column":"a","kind":"team"}"#, .owner(column: "a", kind: "team")), (#"{"column":"a"}"#, .named(column: "a")),
      (#"{"constant":"all:x"}"#, .constant("all:x")),
      (#"{"column":"a","parent":"b"}"#, .parent(column: "a", table: "b")),
    ]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    for (text, rule) in rules {
      #expect(try JSONDecoder().decode(SpaceRule.self, from: Data(text.utf8)) == rule)
      #expect(String(decoding: try encoder.encode(rule), as: UTF8.self) == text)
    }
    #expect(rules.map(\.1.column) == ["a", "a", nil, "a"])
  }

  static let broken = [
    #"{"column":"a","type":"text"}"#, #"{"name":"a","type":"varchar"}"#, #"{"name":"a"}"#,
    #"{"name":"a","type":"text","rule":"max"}"#, #"{"name":"a","type":"text","optional":1}"#,
  ]

  @Test(arguments: broken)
  func `a column of no known form is refused`(text: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(ColumnDefinition.self, from: Data(text.utf8)) }
  }

  @Test(arguments: ["{}", #"{"kind":"team"}"#, #"{"parent":"b"}"#, #"{"everyone":false}"#])
  func `a rule and members of no known form are refused`(text: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(SpaceRule.self, from: Data(text.utf8)) }
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(MembersDefinition.self, from: Data(text.utf8)) }
  }
}
