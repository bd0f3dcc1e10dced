// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryCommands
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// `skerry schema`.
@Suite struct SchemaCommandTests {
  private func answer(_ words: String..., file: String) -> CommandAnswer {
    CommandLineTool.answer(["schema"] + words + ["-"]) { Array(file.utf8) }
  }

  private func file(_ schema: Schema) throws -> String {
    String(decoding: try JSONEncoder().encode(schema), as: UTF8.self)
  }

  private func changed(_ change: (inout Schema) -> Void) throws -> String {
    var schema = Schema.shore
    change(&schema)
    return try file(schema)
  }

  @Test func `a legal schema is told in one line`() throws {
    let answer = try answer("check", file: file(.shore))
    #expect(answer.code == 0)
    #expect(
      answer.output
        == "legal: shore version 3, 5 tables, kinds of spaces user, team, feature all (replica), fingerprint "
        + Hex.text(Schema.shore.fingerprint))
  }

  @Test func `every complaint is told, with place, reason and remedy`() throws {
    let text = try changed { schema in
      schema.version = 0
      schema.features[0].tables[0].columns[0].name = "ID"
      schema.features[0].tables[1].spaces = []
      schema.features[0].tables[2].columns[1].isOptional = true
      schema.spaces[0].members = .table("nobody", space: "team", user: "user")
    }
    let answer = answer("check", file: text)
    #expect(answer.code == 1)
    let lines = answer.output.split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "schema: version is 0; count from 1",
        "schema at item.ID: column name 'ID' is not [a-z][a-z0-9_]{0,47}; use lower-case letters, digits and _",
        "schema at item.id: the key names a column that is not there; declare the column",
        "schema at draft: its rows are in no space; declare an owner column, a parent or a constant",
        "schema at mark.page: a key column is optional, a counter, late-bound, real or json; use text, uuid, integer, date or blob",
        "schema at nobody: members of 'team', and not declared; declare the table", "6 complaints",
      ])
  }

  @Test func `a ring of parents is told once from each of its tables`() throws {
    let text = try changed { schema in
      schema.features[0].tables[0].spaces = [.parent(column: "title", table: "draft")]
      schema.features[0].tables[1].spaces = [.parent(column: "body", table: "item")]
    }
    let lines = answer("check", file: text).output.split(separator: "\n").map(String.init)
    #expect(lines.count { $0.contains("its parents lead back to it") } == 2)
    #expect(lines.last == "2 complaints")
  }

  @Test(arguments: [
    ("", "this is no JSON"), ("{\"name\": 1", "this is no JSON"),
    (#"{"name":"a","name":"b","version":1,"spaces":[],"features":[]}"#, "each name once"),
    (#"{"version":1,"spaces":[],"features":[]}"#, "schema: 'name' is missing; write it"),
    (
      #"{"name":"a","version":1,"spaces":[],"features":[{"name":"f","level":"replica","tables":[{"name":"t"}]}]}"#,
      "schema at features[0].tables[0]: 'columns' is missing; write it"
    ),
    (#"{"name":"a","version":"1","spaces":[],"features":[]}"#, "schema at version: "),
    (
      #"{"name":"a","version":1,"spaces":[],"features":[],"feature":[]}"#,
      "schema at feature: such a member means nothing"
    ),
  ])
  func `what is no schema is a complaint, and not one for json and sql`(text: String, complaint: String) {
    let check = answer("check", file: text)
    #expect(check.code == 1)
    #expect(check.output.contains(complaint), "\(check.output)")
    #expect(answer("sql", file: text).code == 3)
  }

  @Test func `a misspelt member of a column is a complaint`() throws {
    let text = try file(.shore).replacing("\"optional\":true", with: "\"optinal\":true")
    let answer = answer("check", file: text)
    #expect(answer.code == 1)
    #expect(answer.output.contains("columns[1].optinal: such a member means nothing here; write one of default, name"))
  }

  @Test func `canonical JSON is the same for the same declaration, and reads back`() throws {
    let first = try answer("json", file: file(.shore))
    #expect(first.code == 0)
    let turned = try changed { $0.features[0].tables.reverse() }
    #expect(answer("json", file: turned) == first)
    #expect(answer("json", file: first.output) == first)
    let back = try JSONDecoder().decode(Schema.self, from: Data(first.output.utf8))
    #expect(back.fingerprint == Schema.shore.fingerprint)
    #expect(try answer("json", file: changed { $0.version = 4 }) != first)
  }

  /// All that a file has been made to hold, as SQLite tells it.
  private func contents(_ connection: SQLiteConnection) throws -> [String] {
    try connection.query("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master ORDER BY type, name") {
      row in
      (0..<4).map { row.text($0) }.joined(separator: " | ")
    }
  }

  @Test(arguments: ["--server", "--device"])
  func `the SQL makes of an empty file what the engine makes of it`(side: String) throws {
    let shore = try Shore()
    let sql = try answer("sql", side, file: file(.shore))
    #expect(sql.code == 0)
    let folder = try TemporaryFolder()
    let fresh = try SQLiteConnection(path: folder.path("fresh.db"), mode: .writer)
    try fresh.execute(sql.output)
    let made = side == "--server" ? try contents(shore.world.foreign) : try shore.store.withConnection(contents)
    #expect(try contents(fresh) == made)
    #expect(made.count > 20)
    if side == "--server" { #expect(try answer("sql", file: file(.shore)) == sql) }
  }

  @Test func `an illegal schema comes to no SQL`() throws {
    let answer = try answer("sql", file: changed { $0.version = 0 })
    #expect(answer.code == 3)
    #expect(answer.error == "skerry: schema: version is 0; count from 1")
  }

  @Test func `a file is read by its path, and one that is not there is said so`() throws {
    let shore = try Shore()
    #expect(shore.answer("schema", "check", shore.schemaFile).code == 0)
    #expect(shore.answer("schema", "check", shore.schemaFile + "x").code == 3)
  }
}
