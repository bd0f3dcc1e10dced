// SPDX-License-Identifier: Apache-2.0
import Foundation
import Skerry
import SkerryAmbientKit
import SkerryContacts
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryWire
import Testing

@testable import SkerryCommands

/// `skerry import`, with the example's contacts.
@Suite struct ImportTests {
  private let folder: TemporaryFolder
  private static let example = URL(fileURLWithPath: #filePath + "/../../../Examples/Contacts").standardized.path

  init() throws { folder = try TemporaryFolder() }

  private var store: String { folder.path("phone.db") }

  private func write(_ name: String, _ text: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path(name)))
    return folder.path(name)
  }

  @discardableResult
  private func run(_ file: String, _ table: String, _ more: String...) async throws -> [String] {
    var lines: [String] = []
    try await ImportCommand(
      [
        file, "--database", store, "--account", "ana", "--schema", Self.example + "/schema.json", "--table", table,
      ] + more
    ).run { lines.append($0) }
    return lines
  }

  private func replica() async throws -> Replica {
    try await Replica.open(path: store, account: "ana", schema: .contacts, ambient: SystemAmbient())
  }

  /// The example's contacts as a spreadsheet would save them.
  private func contacts() throws -> (csv: String, count: Int) {
    let names = [
      "id", "team", "first", "last", "full", "nickname", "birthday", "role", "state", "district", "party", "phone",
      "url",
      "address", "social",
    ]
    let lines = try String(contentsOfFile: Self.example + "/data/contacts.ndjson", encoding: .utf8)
      .split(separator: "\n")
    let rows = try lines.map { line in
      let person = try JSON(parsing: Array(line.utf8))
      return names.map { name -> String in
        switch name == "team" ? JSON.string("t") : person[name] {
        case nil, .null: return ""
        case .string(let text): return "\"" + text.replacing("\"", with: "\"\"") + "\""
        case .some(let json): return "\"" + json.asText.replacing("\"", with: "\"\"") + "\""
        }
      }.joined(separator: ",")
    }
    return (names.joined(separator: ",") + "\r\n" + rows.joined(separator: "\r\n") + "\r\n", rows.count)
  }

  @Test func `all contacts come in from a spreadsheet, and a second call does nothing`() async throws {
    let (csv, count) = try contacts()
    let file = try write("people.csv", csv)
    let lines = try await run(file, "people", "--batch", "50")
    #expect(lines.first == "people: 50 of \(count) rows")
    #expect(lines.last == "people: \(count) added")
    let replica = try await replica()
    let cantwell = try #require(try await replica.first(Person.query(id: "C000127")))
    #expect(cantwell.full == "Maria Cantwell")
    #expect(cantwell.birthday?.description == "1958-10-13")
    #expect(cantwell.social?.count == 5)
    #expect(cantwell.district == nil)
    #expect(try await replica.facts().pending == (count + 49) / 50)
    #expect(try await run(file, "people").last?.contains("was imported before") == true)
    let again = try await run(file, "people", "--name", "again")
    #expect(again.last == "people: \(count) here already")
    #expect(try await replica.facts().pending == (count + 49) / 50)
  }

  @Test func `lines of JSON come in as they are in the example, and a table below another after it`() async throws {
    let people = try write("p.ndjson", #"{"id": "a", "team": "t", "first": "A", "last": "B", "social": {"x": 1}}"#)
    let offices = try write(
      "o.json",
      """
      [
        {"id": "o1", "person": "a", "latitude": 47, "longitude": -122.5, "suite": null},
        {"id": "o2", "person": "a", "city": "Seattle"}
      ]
      """)
    await #expect(throws: ImportError.self) { try await run(offices, "offices") }
    try await run(people, "people")
    #expect(try await run(offices, "offices").last == "offices: 2 added")
    #expect(try await replica().read(Office.query("ORDER BY id")).map(\.latitude) == [47, nil])
  }

  @Test func `a database comes in from its table, with columns passed over`() async throws {
    let file = folder.path("old.sqlite")
    let old = try SQLiteConnection(path: file, mode: .writer)
    try old.execute(
      """
      CREATE TABLE contact(rowno INTEGER PRIMARY KEY, id TEXT, team TEXT, first TEXT, last TEXT, district INTEGER);
      INSERT INTO contact(id, team, first, last, district) VALUES ('a', 't', 'A', 'B', 7), ('b', 't', 'C', 'D', NULL);
      """)
    let lines = try await run(file, "people", "--from", "contact", "--skip", "rowno", "--as", "on-server")
    #expect(lines.last == "people: 2 added")
    #expect(try await replica().facts().unconfirmed == 2)
    #expect(try await replica().facts().pending == 0)
  }

  @Test(arguments: [
    ("id,team,first,last\na,t,A,B\nb,t,C\n", ":3: 4 fields were expected, 3 found"),
    ("id,team,first,last,district\na,t,A,B,x\n", ":2:9: column district: integer wanted, something else found"),
    ("id,team,first,last\n\n\"a\n\",t,A,B\nb,t,\"C,D\n", ":5:5: a quoted field that is never closed"),
    ("id,team,first,last\na,t,A\"B,B\n", ":2:6: a quote within a field"),
    ("id,team,first,lust\na,t,A,B\n", ":2:7: column lust: people has no such column"),
    ("id,team,first,last,id\n", ":1:20: column id: named twice"),
    ("id,team,first,last\n,t,A,B\n", ":2: column id: it is part of the key"),
    ("id,team,first,last\na,t,A,\n", ":2: column last: "),
    ("id,team,first,last,birthday\na,t,A,B,\"1.2.1990\"\n", ":2: column birthday: "),
    ("", ":1: a line with the names of the columns was expected"),
  ])
  func `what is wrong with a file is told with line and column, and nothing is written`(
    _ text: String, _ complaint: String
  ) async throws {
    let file = try write("people.csv", text)
    let error = await #expect(throws: ImportError.self) { try await run(file, "people") }
    #expect(error?.description.contains("people.csv" + complaint) == true, "\(error?.description ?? "nothing")")
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `JSON that is wrong is told with its line`() async throws {
    let text = try write("p.ndjson", "{\"id\": \"a\", \"team\": \"t\", \"first\": \"A\", \"last\": \"B\"}\n{\"id\": 1")
    #expect(await #expect(throws: ImportError.self) { try await run(text, "people") }?.line == 2)
    let array = try write("p.json", "[\n{\"id\": \"a\", \"team\": \"t\", \"first\": \"A\", \"last\": 1}\n]")
    let error = await #expect(throws: ImportError.self) { try await run(array, "people") }
    #expect(error?.line == 2)
    #expect(error?.column == "last")
  }

  @Test func `a row that the store refuses is told by its line`() async throws {
    let file = try write("offices.csv", "id,person\n\no1,nobody\n")
    let error = await #expect(throws: ImportError.self) { try await run(file, "offices") }
    #expect(error?.line == 3)
    #expect(error?.reason.hasSuffix("adopt people before offices") == true)
  }

  @Test func `a server's database is refused with what to do instead`() async throws {
    let shore = try Shore()
    let file = try write("people.csv", "id,team,first,last\na,t,A,B\n")
    let words = [
      file, "--database", shore.server, "--account", "ana", "--schema", Self.example + "/schema.json", "--table",
      "people",
    ]
    let error = await #expect(throws: FileError.self) { try await ImportCommand(words).run { _ in } }
    #expect(error?.description.contains("insert the rows with SQL") == true)
  }

  @Test func `a command line that means nothing is refused`() throws {
    let good = ["f.csv", "--database", "d", "--account", "a", "--schema", Self.example + "/schema.json"]
    #expect(throws: UsageError.self) { try ImportCommand(good) }
    #expect(throws: UsageError.self) { try ImportCommand(good + ["--table", "persons"]) }
    #expect(throws: UsageError.self) { try ImportCommand(good + ["--table", "people", "--as", "guess"]) }
    #expect(throws: UsageError.self) { try ImportCommand(good + ["--table", "people", "--batch", "0"]) }
    _ = try ImportCommand(good + ["--table", "people"])
  }
}
