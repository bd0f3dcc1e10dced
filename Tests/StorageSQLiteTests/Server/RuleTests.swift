// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerryServerCore
import SkerryTestSupport
import SkerryTesting
import Testing

/// What the rule and the schema make of a mutation on the server.
@Suite struct RuleTests {
  @Test func `an insert of a row that is there is refused, and so is everything with it`() throws {
    let world = try ServerWorld()
    try world.foreign("INSERT INTO item(id, n, home) VALUES ('a', 0, 'user:ana')")
    let steps: [Step] = [
      .insert("item", "b", ["home": "user:ana"]), .insert("item", "a", ["home": "user:ana"]),
    ]
    #expect(try world.judge(steps, as: "ana") == "rejected exists")
    #expect(try world.row("item", "b") == nil)
  }

  @Test func `an edit of a row that is no more, or of another incarnation, is refused`() throws {
    let world = try ServerWorld()
    try world.foreign("INSERT INTO item(id, n, home) VALUES ('a', 0, 'user:ana')")
    let id = MutationID(raw: Bytes16(high: 1, low: 1))
    let late = try world.operations([.set("item", "a", ["title": "late"])], of: id)
    try world.foreign("DELETE FROM item")
    #expect(try world.judge([.delete("item", "a")], as: "ana") == "rejected gone")
    try world.foreign("INSERT INTO item(id, n, home) VALUES ('a', 0, 'user:ana')")
    let verdicts = try world.push([Mutation(id: id, number: 9, operations: late)], as: "ana", replica: "r")
    #expect(verdicts == [.settled(id, .rejected)])
    #expect(try world.receipt(id, of: "ana")?.receipt.code == .gone)
    #expect(try world.row("item", "a")?.values[0] == .null)
  }

  @Test func `increments add up, and one that overflows is refused`() throws {
    let world = try ServerWorld()
    try world.foreign("INSERT INTO item(id, n, home) VALUES ('a', 9223372036854775800, 'user:ana')")
    #expect(try world.judge([.add("item", "a", 5), .add("item", "a", 2)], as: "ana") == "confirmed")
    #expect(try world.judge([.add("item", "a", 1)], as: "ana") == "rejected overflow")
    #expect(try world.row("item", "a")?.values[2] == .integer(.max))
  }

  @Test func `an edit of a row that was changed meanwhile is a conflict in a table that checks versions`() throws {
    let world = try ServerWorld(.model)
    try world.foreign("INSERT INTO doc(id, home) VALUES ('d', 'user:ana')")
    let (id, other) = (MutationID(raw: Bytes16(high: 1, low: 1)), MutationID(raw: Bytes16(high: 1, low: 2)))
    let late = try world.operations([.set("doc", "d", ["a": "late"])], of: id)
    try world.foreign("UPDATE doc SET b = 'other'")
    let fresh = try world.operations([.set("doc", "d", ["a": "fresh"])], of: other)
    let verdicts = try world.push(
      [Mutation(id: id, number: 1, operations: late), Mutation(id: other, number: 2, operations: fresh)], as: "ana",
      replica: "r")
    #expect(verdicts == [.settled(id, .conflicted), .settled(other, .confirmed)])
    #expect(try world.receipt(id, of: "ana")?.receipt.code == .stale)
    #expect(try world.row("doc", "d")?.values[1] == "fresh")
  }

  @Test(
    arguments: [
      [.insert("unknown", "a", [:])], [.insert("item", "a", ["unknown": 1, "home": "user:ana"])],
      [.insert("item", "a", ["home": 5])], [.insert("item", "a", ["title": "\u{0}", "home": "user:ana"])],
      [.insert("member", "m", ["team": "t1"])], [.insert("skerry_rows", "a", [:])],
      [.insert("sqlite_schema", "a", [:])], [],
    ] as [[Step]])
  func `what does not fit the schema is refused as invalid`(_ steps: [Step]) throws {
    let world = try ServerWorld()
    #expect(try world.judge(steps, as: "ana") == "rejected invalid")
  }

  @Test func `what a constraint of the database refuses is refused with it, and the next mutation is judged`() throws {
    let world = try ServerWorld()
    try world.foreign(
      """
      CREATE TRIGGER app_rule BEFORE INSERT ON item WHEN NEW.title = 'bad' BEGIN SELECT RAISE(ABORT, 'not so'); END
      """)
    let steps: [[Step]] = [
      [.insert("item", "a", ["home": "user:ana"]), .insert("item", "b", ["title": "bad", "home": "user:ana"])],
      [.insert("item", "c", ["home": "user:ana"])],
    ]
    let mutations = try steps.map { try world.mutation($0, replica: "r") }
    let verdicts = try world.push(mutations, as: "ana", replica: "r")
    #expect(verdicts == [.settled(mutations[0].id, .rejected), .settled(mutations[1].id, .confirmed)])
    #expect(try world.receipt(mutations[0].id, of: "ana")?.receipt.code == .constraint)
    #expect(try world.receipt(mutations[0].id, of: "ana")?.receipt.reason == "not so")
    #expect(try world.row("item", "a") == nil)
    #expect(try world.row("item", "c")?.version == mutations[1].id.tag)
  }

  @Test func `a trigger of the app that ends the transaction ends the request, of which nothing has happened`() throws {
    let world = try ServerWorld()
    try world.foreign(
      """
      CREATE TRIGGER app_rule BEFORE INSERT ON item WHEN NEW.title = 'bad' BEGIN SELECT RAISE(ROLLBACK, 'not so'); END
      """)
    let steps: [[Step]] = [
      [.insert("item", "a", ["home": "user:ana"])], [.insert("item", "b", ["title": "bad", "home": "user:ana"])],
      [.insert("item", "c", ["home": "user:ana"])],
    ]
    let mutations = try steps.map { try world.mutation($0, replica: "r") }
    #expect(throws: (any Error).self) { try world.push(mutations, as: "ana", replica: "r") }
    for mutation in mutations { #expect(try world.receipt(mutation.id, of: "ana") == nil) }
    #expect(try world.dump().isEmpty)
    #expect(try world.storage.read { try !$0.hasCaptures() })
    #expect(try world.push([mutations[0]], as: "ana", replica: "r") == [.settled(mutations[0].id, .confirmed)])
  }

  @Test func `a mutation that changes nothing is confirmed, and its version is the row's`() throws {
    let world = try ServerWorld()
    try world.foreign("INSERT INTO item(id, title, n, home) VALUES ('a', 'x', 0, 'user:ana')")
    let mutation = try world.mutation([.set("item", "a", ["title": "x"])], replica: "r")
    #expect(try world.push([mutation], as: "ana", replica: "r") == [.settled(mutation.id, .confirmed)])
    #expect(try world.row("item", "a")?.version == mutation.id.tag)
  }
}
