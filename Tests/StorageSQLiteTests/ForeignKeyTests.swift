// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTesting
import SkerryWire
import Testing

/// Foreign keys of the app's own tables, when a device writes.
@Suite struct ForeignKeyTests {
  private static let item = """
    CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER NOT NULL DEFAULT 0, home TEXT, also TEXT);
    """

  /// Lines of an order that Skerry knows nothing of, with one line of item `i`.
  private static func lines(_ clause: String) -> String {
    item + """
      CREATE TABLE line(id INTEGER PRIMARY KEY, item TEXT NOT NULL REFERENCES item(id) \(clause));
      INSERT INTO item(id, home) VALUES ('i', 'user:ana'), ('free', 'user:ana'); INSERT INTO line VALUES (1, 'i')
      """
  }

  @Test(arguments: ["", "ON DELETE RESTRICT", "ON DELETE NO ACTION", "DEFERRABLE INITIALLY DEFERRED"])
  func `a row that another table of the app names is not deleted, and the refusal is of that mutation alone`(
    _ clause: String
  ) throws {
    let world = try ServerWorld(before: ForeignKeyTests.lines(clause))
    let mutations = try [
      world.mutation([.set("item", "free", ["title": "x"])], replica: "r"),
      world.mutation([.delete("item", "i")], replica: "r"),
      world.mutation([.delete("item", "free")], replica: "r"),
    ]
    let verdicts = try world.push(mutations, as: "ana", replica: "r")
    #expect(
      verdicts == [
        .settled(mutations[0].id, .confirmed), .settled(mutations[1].id, .rejected),
        .settled(mutations[2].id, .confirmed),
      ])
    #expect(try world.receipt(mutations[1].id, of: "ana")?.receipt.code == .constraint)
    #expect(try world.row("item", "i") != nil)
    #expect(try world.row("item", "free") == nil)
    #expect(try world.sqlite.foreign.first("SELECT count(*) FROM line") { $0.integer(0) } == 1)
  }

  @Test func `what a deletion cascades to is deleted, captured and told`() throws {
    let world = try ServerWorld(
      before: ForeignKeyTests.item + """
        CREATE TABLE note(id TEXT PRIMARY KEY NOT NULL, item TEXT REFERENCES item(id) ON DELETE CASCADE, other TEXT);
        INSERT INTO item(id, home) VALUES ('i', 'user:ana'); INSERT INTO note(id, item) VALUES ('n', 'i')
        """)
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana")
    #expect(try world.judge([.delete("item", "i")], as: "ana") == "confirmed")
    let items = try world.catchUp(&cursor, as: "ana").map(\.text)
    #expect(Set(items) == ["receipt confirmed", "deleted item/i in user:ana", "deleted note/n in user:ana"])
  }

  private static let members = """
    CREATE TABLE team(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE member(id TEXT PRIMARY KEY NOT NULL, team TEXT NOT NULL REFERENCES team(id), account TEXT NOT NULL);
    """

  @Test func `a mutation may write a row before the one that its key names`() throws {
    let world = try ServerWorld(before: ForeignKeyTests.members)
    let both: [Step] = [.insert("member", "m", ["team": "t", "account": "ana"]), .insert("team", "t", [:])]
    #expect(try world.judge(both, as: "ana") == "confirmed")
    #expect(try world.judge([.delete("team", "t"), .delete("member", "m")], as: "ana") == "confirmed")
    #expect(try world.judge(both, as: "ana") == "confirmed")
    #expect(try world.judge([.delete("team", "t")], as: "ana") == "rejected constraint")
  }

  @Test func `a row that names one that is not there is refused`() throws {
    let world = try ServerWorld(
      before: ForeignKeyTests.members.replacing("REFERENCES team(id)", with: "REFERENCES club(id)")
        + "CREATE TABLE club(id TEXT PRIMARY KEY)")
    let steps: [Step] = [.insert("team", "t", [:]), .insert("member", "m", ["team": "t", "account": "ana"])]
    #expect(try world.judge(steps, as: "ana") == "rejected constraint")
    try world.foreign("INSERT INTO club VALUES ('t')")
    #expect(try world.judge(steps, as: "ana") == "confirmed")
  }

  @Test(arguments: [
    "", "CREATE TABLE club(id TEXT)", "CREATE TABLE club(id TEXT, other TEXT, PRIMARY KEY(id, other))",
  ])
  func `a table whose foreign keys name nothing unique is refused before a push meets them`(_ club: String) throws {
    let before = ForeignKeyTests.members.replacing("REFERENCES team(id)", with: "REFERENCES club(id)") + club
    let error = #expect(throws: StorageError.self) { try ServerWorld(before: before) }
    #expect(error?.description.contains("table 'member' cannot be adopted: SQLite cannot write it") == true)
  }

  @Test func `rows that broke a foreign key before Skerry came hold up nobody`() throws {
    let world = try ServerWorld(before: ForeignKeyTests.lines("") + "; INSERT INTO line VALUES (2, 'missing')")
    #expect(try world.judge([.set("item", "i", ["title": "x"]), .delete("item", "free")], as: "ana") == "confirmed")
    #expect(try world.judge([.insert("item", "missing", ["home": "user:ana"])], as: "ana") == "confirmed")
  }
}
