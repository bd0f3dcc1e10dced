// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTestSupport
import SkerryTesting
import Testing

/// Who may do what: the permission rule of the write path, sentence by sentence.
///
/// Ana and Bob are in team t1, Bob and Cat in team t2. Rows are named after what they are to Ana.
@Suite struct PermissionTests {
  struct Deed: CustomTestStringConvertible, Sendable {
    let sentence: String
    let user: AccountID
    let steps: [Step]
    let outcome: String

    init(_ sentence: String, by user: AccountID = "ana", _ steps: [Step], _ outcome: String) {
      self.sentence = sentence
      self.user = user
      self.steps = steps
      self.outcome = outcome
    }

    var testDescription: String { sentence }
  }

  private static let confirmed = "confirmed"
  private static let forbidden = "rejected forbidden"

  private static let setup = """
    INSERT INTO team(id) VALUES ('t1'), ('t2');
    INSERT INTO member(id, team, account) VALUES ('a1', 't1', 'ana'), ('b1', 't1', 'bob'), ('b2', 't2', 'bob'),
      ('c2', 't2', 'cat');
    INSERT INTO item(id, n, home, also) VALUES ('mine', 0, 'user:ana', NULL), ('bobs', 0, 'user:bob', NULL),
      ('shared', 0, 'team:t1', NULL), ('theirs', 0, 'team:t2', NULL), ('both', 0, 'user:ana', 'user:bob'),
      ('mixed', 0, 'team:t1', 'user:bob'), ('twice', 0, 'user:ana', 'team:t1'), ('nowhere', 0, NULL, NULL),
      ('receipts', 0, 'replica:phone of ana', NULL), ('early', 0, 'team:t8', NULL);
    INSERT INTO note(id, item, other) VALUES ('of-mine', 'mine', NULL), ('of-theirs', 'theirs', NULL),
      ('orphan', 'gone', NULL), ('alone', NULL, NULL), ('of-two', 'mine', 'theirs'), ('half', 'mine', 'gone'),
      ('of-bobs', 'bobs', NULL);
    INSERT INTO reply(id, note) VALUES ('below', 'of-mine'), ('lost', 'orphan'), ('waits', 'none');
    INSERT INTO member(id, team, account) VALUES ('x', 't7', 'bob');
    INSERT INTO notice(id) VALUES ('for-all')
    """

  private func check(_ deed: Deed) throws {
    let world = try ServerWorld()
    try world.foreign(PermissionTests.setup)
    let before = try world.dump()
    #expect(try world.judge(deed.steps, as: deed.user) == deed.outcome)
    if deed.outcome != PermissionTests.confirmed {
      #expect(try world.dump() == before, "a refused mutation changed a row")
    } else {
      #expect(try world.dump() != before, "a confirmed mutation changed no row")
    }
  }

  private static let inserts: [Deed] = [
    Deed("a row may be made in one's own space", [.insert("item", "new", ["home": "user:ana"])], confirmed),
    Deed(
      "a row may be made in a space of which one is a member", [.insert("item", "new", ["home": "team:t1"])], confirmed),
    Deed("no row may be made in another account's space", [.insert("item", "new", ["home": "user:bob"])], forbidden),
    Deed("no row may be made in a space of others", [.insert("item", "new", ["home": "team:t2"])], forbidden),
    Deed("no row may be made in no space", [.insert("item", "new", [:])], forbidden),
    Deed(
      "no row may be made among a device's receipts", [.insert("item", "new", ["home": "replica:phone of ana"])],
      forbidden),
    Deed("no row may be made in a space of no declared kind", [.insert("item", "new", ["home": "odd:t1"])], forbidden),
    Deed(
      "a row in two spaces needs the right in each",
      [.insert("item", "new", ["home": "user:ana", "also": "user:bob"])], forbidden),
    Deed(
      "a row may be made in two spaces that are one's own",
      [.insert("item", "new", ["home": "user:ana", "also": "team:t1"])], confirmed),
    Deed("a child may be made below a row of one's own", [.insert("note", "new", ["item": "mine"])], confirmed),
    Deed("no child may be made below a row of others", [.insert("note", "new", ["item": "theirs"])], forbidden),
    Deed(
      "no child may be made below two rows of which one is of others",
      [.insert("note", "new", ["item": "mine", "other": "theirs"])], forbidden),
    Deed("no child may be made below a row that is not there", [.insert("note", "new", ["item": "gone"])], forbidden),
    Deed(
      "a child may be made together with its parent, in any order",
      [.insert("note", "new", ["item": "fresh"]), .insert("item", "fresh", ["home": "user:ana"])], confirmed),
    Deed("everyone may write in a space of everyone", [.insert("notice", "new", [:])], confirmed),
  ]

  @Test(arguments: inserts) func `new rows`(_ deed: Deed) throws { try check(deed) }

  private static let edits: [Deed] = [
    Deed("a row of one's own may be changed", [.set("item", "mine", ["title": "x"])], confirmed),
    Deed("a row of others may not be changed", [.set("item", "bobs", ["title": "x"])], forbidden),
    Deed("a row in a space of others may not be changed", [.add("item", "theirs", 1)], forbidden),
    Deed("a member of one space of a row may change it", [.set("item", "mixed", ["title": "x"])], confirmed),
    Deed("a member of one space of a row may count", [.add("item", "both", 1)], confirmed),
    Deed("the account of the other space may do so too", by: "bob", [.set("item", "both", ["title": "x"])], confirmed),
    Deed("an account of neither space may not", by: "cat", [.set("item", "mixed", ["title": "x"])], forbidden),
    Deed("a row in no space belongs to nobody", [.set("item", "nowhere", ["title": "x"])], forbidden),
    Deed(
      "a row that names a device's receipts belongs to nobody", [.set("item", "receipts", ["title": "x"])], forbidden),
    Deed(
      "a row of everyone may be changed by anyone", by: "cat", [.set("notice", "for-all", ["words": "x"])], confirmed),
    Deed("a child of one's own row may be changed", [.set("note", "of-mine", ["other": "shared"])], confirmed),
    Deed("a child of others' row may not be changed", [.set("note", "of-theirs", ["other": "theirs"])], forbidden),
    Deed(
      "a child of two rows may be changed by whoever may change one", [.set("note", "of-two", ["item": "shared"])],
      confirmed),
    Deed(
      "a child two generations down is in the space of its ancestor", [.set("reply", "below", ["note": "half"])],
      confirmed),
    Deed(
      "one row of a mutation that is forbidden forbids the whole",
      [.set("item", "mine", ["title": "x"]), .set("item", "bobs", ["title": "x"])], forbidden),
  ]

  @Test(arguments: edits) func `changed rows`(_ deed: Deed) throws { try check(deed) }

  private static let moves: [Deed] = [
    Deed(
      "a row may be moved to a space of which one is a member", [.set("item", "mine", ["home": "team:t1"])], confirmed),
    Deed("no row may be moved to a space of others", [.set("item", "mine", ["home": "team:t2"])], forbidden),
    Deed("no row may be moved to another account", [.set("item", "mine", ["home": "user:bob"])], forbidden),
    Deed("no space of others may be replaced by one's own", [.set("item", "mixed", ["also": "team:t1"])], forbidden),
    Deed("a second space may be added", [.set("item", "shared", ["also": "user:ana"])], confirmed),
    Deed("a second space of others may not be added", [.set("item", "shared", ["also": "user:bob"])], forbidden),
    Deed("no row may be taken out of a space of others", [.set("item", "both", ["also": .null])], forbidden),
    Deed(
      "a row may be taken out of one's own space and left to others", [.set("item", "both", ["home": .null])], confirmed
    ),
    Deed("a row may be taken out of one of two spaces", [.set("item", "twice", ["also": .null])], confirmed),
    Deed("a row may be taken out of all spaces that are one's own", [.set("item", "mine", ["home": .null])], confirmed),
    Deed(
      "no row may be taken out of others' spaces by moving its parent", by: "cat",
      [.set("item", "mine", ["home": "team:t2"])], forbidden),
    Deed(
      "a child may be moved below another row of one's own", [.set("note", "of-mine", ["item": "shared"])], confirmed),
    Deed("no child may be moved below a row of others", [.set("note", "of-mine", ["item": "theirs"])], forbidden),
    Deed("no child may be taken from a row of others", [.set("note", "of-two", ["other": .null])], forbidden),
    Deed(
      "no child may be taken from a row of others altogether", [.set("note", "of-theirs", ["item": "mine"])], forbidden),
    Deed(
      "a parent may be moved with its children, by whoever may move it", by: "ana",
      [.set("item", "mine", ["home": "team:t1"]), .set("note", "of-mine", ["other": "shared"])], confirmed),
  ]

  @Test(arguments: moves) func `moved rows`(_ deed: Deed) throws { try check(deed) }

  private static let deletions: [Deed] = [
    Deed("a row of one's own may be deleted", [.delete("item", "mine")], confirmed),
    Deed("a row in two spaces of one's own may be deleted", [.delete("item", "twice")], confirmed),
    Deed("a deletion needs the right in each space of the row", [.delete("item", "both")], forbidden),
    Deed("a deletion needs the right in each space, from the other side too", [.delete("item", "mixed")], forbidden),
    Deed("whoever has the right in each space may delete", by: "bob", [.delete("item", "mixed")], confirmed),
    Deed("a row of others may not be deleted", by: "cat", [.delete("item", "shared")], forbidden),
    Deed("a row in no space may not be deleted", [.delete("item", "nowhere")], forbidden),
    Deed("a child of two rows may not be deleted by who may change one", [.delete("note", "of-two")], forbidden),
    Deed("a child may be deleted", [.delete("note", "of-mine")], confirmed),
    Deed(
      "a row may be deleted and made anew by who may do both",
      [.delete("item", "mine"), .insert("item", "mine", ["home": "team:t1"])], confirmed),
    Deed(
      "a row may not be deleted and made anew elsewhere to take it from others",
      [.delete("item", "both"), .insert("item", "both", ["home": "user:ana"])], forbidden),
  ]

  @Test(arguments: deletions) func `deleted rows`(_ deed: Deed) throws { try check(deed) }

  private static let orphans: [Deed] = [
    Deed("an orphan may not be changed", [.set("note", "orphan", ["other": "mine"])], forbidden),
    Deed("an orphan may not be deleted", [.delete("note", "orphan")], forbidden),
    Deed("a row whose parent column is empty may not be changed", [.set("note", "alone", ["item": "mine"])], forbidden),
    Deed(
      "an orphan cannot be taken by making the parent that it names", [.insert("item", "gone", ["home": "user:ana"])],
      forbidden),
    Deed(
      "nor by making the parent and changing the orphan in one mutation",
      [.insert("item", "gone", ["home": "user:ana"]), .set("note", "orphan", ["other": "mine"])], forbidden),
    Deed(
      "nor by making a parent in between", [.insert("note", "none", ["item": "mine"])], forbidden),
    Deed("a parent may be made that no row names", [.insert("item", "fresh", ["home": "user:ana"])], confirmed),
    Deed("a child with one parent that is there may be changed", [.set("note", "half", ["other": .null])], confirmed),
  ]

  @Test(arguments: orphans) func `rows that belong to nobody`(_ deed: Deed) throws { try check(deed) }

  private static let memberships: [Deed] = [
    Deed("a member may add another", [.insert("member", "new", ["team": "t1", "account": "cat"])], confirmed),
    Deed("nobody may add themselves", [.insert("member", "new", ["team": "t2", "account": "ana"])], forbidden),
    Deed(
      "nobody may add themselves and write in the same mutation",
      [.insert("member", "new", ["team": "t2", "account": "ana"]), .insert("item", "new", ["home": "team:t2"])],
      forbidden),
    Deed("a member may leave", [.delete("member", "a1")], confirmed),
    Deed(
      "a member may leave and write for the last time", [.delete("member", "a1"), .add("item", "shared", 1)], confirmed),
    Deed("a member may remove another", [.delete("member", "b1")], confirmed),
    Deed("a membership may not be moved to a space of others", [.set("member", "a1", ["team": "t2"])], forbidden),
    Deed(
      "a membership may not be given to oneself from outside", [.set("member", "c2", ["account": "ana"])], forbidden),
  ]

  @Test(arguments: memberships) func `membership is judged as it was before`(_ deed: Deed) throws { try check(deed) }

  private static let roots: [Deed] = [
    Deed("a root opens its space", [.insert("team", "t9", [:])], confirmed),
    Deed(
      "a root opens its space for everything in its mutation, whatever the order",
      [
        .insert("item", "new", ["home": "team:t9"]), .insert("member", "m", ["team": "t9", "account": "ana"]),
        .set("item", "mine", ["home": "team:t9"]), .insert("team", "t9", [:]),
        .insert("member", "m2", ["team": "t9", "account": "cat"]),
      ], confirmed),
    Deed(
      "without its root a space opens for nobody", [.insert("member", "m", ["team": "t9", "account": "ana"])], forbidden
    ),
    Deed("a root opens no space in which there is a row", [.insert("team", "t8", [:])], forbidden),
    Deed("a root opens no space in which there is a membership", [.insert("team", "t7", [:])], forbidden),
    Deed("whoever is a member may make a root that is missing", by: "bob", [.insert("team", "t7", [:])], confirmed),
    Deed(
      "a root opens its own space only",
      [.insert("team", "t9", [:]), .insert("item", "new", ["home": "team:t2"])], forbidden),
    Deed(
      "the root of one kind opens no space of another",
      [.insert("team", "t9", [:]), .insert("item", "new", ["home": "user:t9"])], forbidden),
    Deed(
      "a row of others cannot be moved into a space that is opened",
      [.insert("team", "t9", [:]), .set("item", "bobs", ["home": "team:t9"])], forbidden),
    Deed(
      "a root that is deleted and made anew opens nothing", by: "cat",
      [.delete("team", "t1"), .insert("team", "t1", [:])], forbidden),
  ]

  @Test(arguments: roots) func `the root of a space`(_ deed: Deed) throws { try check(deed) }

  /// Ana has left team t1 and knows what she knew. What the rows hold now is none of her business.
  @Test func `a refusal tells an account that was removed nothing of what a row holds`() throws {
    let world = try ServerWorld()
    try world.foreign(PermissionTests.setup)
    let id = MutationID(raw: Bytes16(high: 0x7000, low: 1))
    let late = try world.operations([.add("item", "shared", .max)], of: id)
    try world.foreign("DELETE FROM member WHERE id = 'a1'; UPDATE item SET n = 123456789 WHERE id = 'shared'")
    for amount in [Int64.min, -1, 0, 1, .max - 123_456_789, .max - 123_456_788, .max] {
      #expect(try world.judge([.add("item", "shared", amount)], as: "ana") == PermissionTests.forbidden, "\(amount)")
    }
    for steps in [
      [.add("item", "mine", .max), .add("item", "mine", 1), .add("item", "shared", 1)],
      [.delete("item", "shared"), .insert("item", "shared", ["home": "user:ana"])],
    ] as [[Step]] {
      #expect(try world.judge(steps, as: "ana") == PermissionTests.forbidden)
    }
    // What is no more is no more for everybody: a device that was off must hear so.
    try world.foreign("DELETE FROM item WHERE id = 'shared'")
    let verdicts = try world.push([Mutation(id: id, number: 99, operations: late)], as: "ana", replica: "r")
    #expect(verdicts == [.settled(id, .rejected)])
    #expect(try world.receipt(id, of: "ana")?.receipt.code == .gone)
  }

  @Test func `an account that never saw a row cannot tell whether it is there`() throws {
    let world = try ServerWorld()
    try world.foreign(PermissionTests.setup)
    let guess = Incarnation(tag: VersionTag(raw: Bytes16(high: 1, low: 2)), index: 0)
    for name in ["theirs", "bobs", "never", "nowhere"] {
      for action in [.delete, .increment("n", by: .max), .set([Field("title", "x")], base: nil)] as [Operation.Action] {
        let id = world.sqlite.ambient.makeMutationID()
        let mutation = Mutation(
          id: id, number: try world.mutation([], replica: "r").number,
          operations: [Operation(RowKey("item", .text(name)), guess, action)])
        #expect(try world.push([mutation], as: "ana", replica: "r") == [.settled(id, .rejected)])
        #expect(try world.receipt(id, of: "ana")?.receipt.code == .gone, "\(name) \(action)")
      }
    }
  }

  @Test func `a refusal tells an account that was removed nothing of a row's version`() throws {
    let world = try ServerWorld(.model)
    try world.foreign("INSERT INTO team(id) VALUES ('t'); INSERT INTO member(id, team, user) VALUES ('a', 't', 'ana')")
    try world.foreign("INSERT INTO doc(id, home) VALUES ('d', 'team:t'), ('e', 'team:t')")
    let (first, second) = (
      MutationID(raw: Bytes16(high: 0x7000, low: 1)), MutationID(raw: Bytes16(high: 0x7000, low: 2))
    )
    let changed = try world.operations([.set("doc", "d", ["a": "x"])], of: first)
    let same = try world.operations([.set("doc", "e", ["a": "x"])], of: second)
    try world.foreign("DELETE FROM member; UPDATE doc SET b = 'later' WHERE id = 'd'")
    for (id, operations) in [(first, changed), (second, same)] {
      let mutation = Mutation(id: id, number: id == first ? 1 : 2, operations: operations)
      #expect(try world.push([mutation], as: "ana", replica: "r") == [.settled(id, .rejected)])
      #expect(try world.receipt(id, of: "ana")?.receipt.code == .forbidden)
    }
  }

  @Test(arguments: [
    ("Ana", "user:ana"), ("ana ", "user:ana"), ("\u{212A}", "user:K"), ("e\u{301}", "user:\u{E9}"),
    ("ana", "user:Ana"), ("ana", "USER:ana"), ("ana", "user:ana "), ("ana", "user: ana"),
  ])
  func `accounts and spaces are compared by bytes`(_ user: String, _ home: String) throws {
    let world = try ServerWorld()
    try world.foreign(PermissionTests.setup)
    let steps = [Step.insert("item", "new", ["home": .text(home)])]
    #expect(try world.judge(steps, as: AccountID(user)) == PermissionTests.forbidden)
    #expect(
      try world.judge([.insert("item", "own", ["home": .text("user:" + user)])], as: AccountID(user)) == "confirmed")
  }

  @Test func `a space that was opened belongs to its members, and to nobody else who comes later`() throws {
    let world = try ServerWorld()
    let opening: [Step] = [.insert("team", "t9", [:]), .insert("member", "m", ["team": "t9", "account": "ana"])]
    #expect(try world.judge(opening, as: "ana") == "confirmed")
    #expect(try world.judge([.insert("item", "i", ["home": "team:t9"])], as: "ana") == "confirmed")
    #expect(try world.judge([.insert("item", "j", ["home": "team:t9"])], as: "bob") == PermissionTests.forbidden)
    #expect(try world.judge([.delete("team", "t9")], as: "ana") == "confirmed")
    #expect(try world.judge([.insert("team", "t9", [:])], as: "bob") == PermissionTests.forbidden)
  }
}

extension ServerWorld {
  /// All rows of the app's tables with their versions, as text.
  func dump() throws -> [String] {
    try sqlite.catalog.tables.flatMap { table in
      let columns = table.columns.map { "quote(\"\($0.name)\")" }.joined(separator: " || ' ' || ")
      return try sqlite.foreign.query("SELECT '\(table.name) ' || \(columns) FROM \"\(table.name)\"") { $0.text(0) }
        .sorted()
    }
  }
}
