// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryCommands
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import SkerryWire
import Testing

/// `skerry explain` on a device's file: each sentence in which a story can end.
@Suite struct ExplainTests {
  @Test func `a device that was never in touch`() throws {
    let shore = try Shore(isSynced: false)
    #expect(try shore.conclusion("x") == "not here: this device has never been in touch with a server")
  }

  @Test func `confirmed rows, and rows that nobody has`() throws {
    let shore = try Shore()
    try shore.foreignItems(["one"])
    try shore.foreign("UPDATE item SET also = 'team:t'")
    try shore.sync()
    let position = try #require(try shore.store.cursor?.position)
    #expect(try shore.conclusion("one") == "shown as the server confirmed it, as of position \(position)")
    #expect(
      try shore.conclusion("x")
        == "not here: none of the spaces this account holds has it, as of position \(position)")
    let text = shore.explain("item", "one").output
    #expect(text.contains("confirmed: the same"))
    #expect(text.contains("kept with the row, this account holds it"))
    #expect(text.contains("kept as a further space, this account holds it"))
    let json = try shore.json(shore.explain("item", "one", "--json"))
    #expect(json["holdings"]?.items.map { $0["first"] } == [.bool(true), .bool(false)])
    #expect(json["places"]?.items.map { $0["space"] } == [.string("team:t"), .string("user:ana")])
    #expect(json["visible"]?["values"] == nil)
  }

  @Test func `pending changes`() throws {
    let shore = try Shore()
    try shore.foreignItems(["one", "two", "three"])
    try shore.sync()
    let first = try shore.set("one")
    _ = try shore.store.offer([first])
    try shore.write { try $0.increment(Shore.item("one"), "n", by: 4_711) }
    try shore.delete("two")
    try shore.delete("three")
    try shore.insert("three")
    try shore.insert("new", home: "team:u")
    try shore.insert("brief")
    try shore.delete("brief")
    #expect(try shore.conclusion("one") == "shown with 2 pending changes that the server has not judged yet")
    #expect(try shore.conclusion("two") == "deleted here, the server has not confirmed it yet (1 pending change)")
    #expect(
      try shore.conclusion("three")
        == "deleted and made anew here, the server has not confirmed that yet (2 pending changes)")
    #expect(try shore.conclusion("new") == "made here, the server has not confirmed it yet (1 pending change)")
    #expect(try shore.conclusion("brief") == "not here: made and deleted here, the server has confirmed neither yet")
    let text = shore.explain("item", "one").output
    #expect(text.contains("  differs in title, n\n"))
    #expect(text.contains("n 1, sent\n    set title\n"))
    #expect(text.contains(", waits for \(first)\n    increment n\n"))
    #expect(!text.contains("4711"))
    #expect(shore.explain("item", "one", "--values").output.contains("increment n by 4711"))
    #expect(shore.explain("item", "new").output.contains("team:u  no page has ever named it here"))
  }

  @Test func `changes without effect`() throws {
    let shore = try Shore()
    try shore.foreignItems(["one"])
    try shore.sync()
    let stranger = Incarnation(tag: try #require(VersionTag(text: "00000000-0000-0000-0000-000000000001")), index: 0)
    for id in ["one", "x"] {
      let operation = SkerryModel.Operation(Shore.item(id), stranger, .set([Field("title", "new")], base: nil))
      try shore.store.append([operation], id: shore.world.ambient.makeMutationID())
    }
    #expect(
      try shore.conclusion("one")
        == "shown as the server confirmed it: 1 pending change of it can have no effect, and the server will say so")
    #expect(
      try shore.conclusion("x")
        == "not here: 1 pending change of it can have no effect, and the server will say so")
    #expect(shore.explain("item", "one").output.contains("set title, without effect here (gone)"))
  }

  @Test func `discarded changes and those set aside`() throws {
    let shore = try Shore()
    try shore.foreignItems(["one", "two"])
    try shore.sync()
    try shore.store.discard(try shore.set("one"))
    try shore.store.discard(try shore.insert("new"))
    let aside = try shore.set("two")
    try shore.store.setAside(aside)
    let tail = "with 1 discarded change that the server has yet to settle"
    #expect(try shore.conclusion("one") == "shown as the server confirmed it \(tail)")
    #expect(try shore.conclusion("new") == "not here, by what the server confirmed \(tail)")
    #expect(
      try shore.conclusion("two")
        == "shown with 1 pending change that the server has not judged yet; "
        + "1 of them is set aside until somebody retries or discards")
  }

  @Test func `changes that are offered again after a reset`() throws {
    let shore = try Shore()
    try shore.insert("one")
    try shore.insert("gone")
    try shore.sync()
    try shore.delete("gone")
    try shore.sync()
    try shore.world.server.beginEpoch("another")
    try shore.steps(1)
    let tail = "offered again until the refill is complete"
    #expect(try shore.conclusion("one") == "shown as the server confirmed it before a reset, with 1 change \(tail)")
    #expect(
      try shore.conclusion("gone")
        == "not here, by what the server confirmed before a reset, with 2 changes \(tail)")
    #expect(shore.explain("item", "one").output.contains("a refill has not brought the row again yet"))
    #expect(shore.explain("item", "one").output.contains("dormant: offered again after a reset, was sent"))
  }

  @Test func `what has arrived and is kept aside`() throws {
    let shore = try Shore()
    try shore.foreignItems(["b1", "b2"])
    try shore.sync()
    try shore.foreign(
      "DELETE FROM item WHERE id = 'b1'", "UPDATE item SET title = 'newer' WHERE id = 'b2'",
      "INSERT INTO item(id, home) VALUES ('b3', 'user:ana')")
    try shore.foreignItems((0..<9).map { "z\($0)" })
    try shore.steps(1)
    let tail = "has arrived, and is kept aside until the catch-up is whole"
    let lines = try ["b1", "b2", "b3", "z0", "z1"].map { try shore.conclusion($0) }
    #expect(lines.contains("not here yet: it \(tail)"))
    #expect(lines[1].hasSuffix("; a newer version \(tail)") && lines[1].hasPrefix("shown as the server confirmed it"))
    let json = try shore.json(shore.explain("item", "b2", "--json", "--values"))
    #expect(json["staged"]?.items.first?["row"]?["values"]?["title"] == .string("newer"))
  }

  @Test func `an end that has arrived and is kept aside`() throws {
    let shore = try Shore()
    try shore.foreignItems(["b1"])
    try shore.sync()
    try shore.foreign("DELETE FROM item WHERE id = 'b1'")
    // Another device's pull gives the end its position before the rest is there, so that it comes in an earlier page.
    try shore.world.open("b", user: "ben")
    try shore.world.sync("b")
    try shore.foreignItems((0..<9).map { "z\($0)" })
    try shore.steps(1)
    #expect(
      try shore.conclusion("b1").hasSuffix("; its end has arrived, and is kept aside until the catch-up is whole"))
  }

  @Test func `refused changes`() throws {
    let shore = try Shore()
    try shore.write { try $0.insert("draft", ["id": "d", "owner": "ana"]) }
    try shore.sync()
    try shore.foreign("UPDATE draft SET body = 'theirs'")
    try shore.write { try $0.update(RowKey("draft", "d"), ["body": .text(Shore.secret)]) }
    try shore.insert("x", home: "team:foreign")
    try shore.sync()
    #expect(
      try shore.conclusion("x").hasPrefix("not here: the server refused the change that made it (forbidden)"))
    let text = shore.explain("draft", "d").output
    #expect(
      text.contains("conflicted (stale): draft/d was changed by someone else meanwhile\n    set body, having seen"))
    #expect(text.hasSuffix("; 1 earlier change of it was refused (stale), and nobody has acknowledged that"))
  }

  @Test func `a space that is being filled, and one that was lost`() throws {
    let shore = try Shore(isSynced: false)
    try shore.foreignItems((0..<9).map { "i\($0)" })
    try shore.foreignItems(["theirs"], home: "team:t")
    try shore.steps(1)
    #expect(try shore.conclusion("x") == "not here yet: 2 spaces are still being filled, and it may come")
    try shore.sync()
    try shore.foreign("DELETE FROM member WHERE id = 'at'")
    try shore.sync()
    #expect(
      try shore.conclusion("theirs").hasPrefix("not here: none of the spaces this account holds has it, as of position")
    )
    #expect(try shore.conclusion("theirs").hasSuffix("; the account has lost team:t"))
  }

  @Test func `a row that is not what it must be`() throws {
    let shore = try Shore()
    try shore.insert("one")
    try shore.store.withConnection { _ = try $0.run("UPDATE item SET n = 7") }
    #expect(
      try shore.conclusion("one").hasPrefix("not as it should be: the confirmed row and the pending changes give"))
  }

  @Test func `keys of several columns are read by the schema`() throws {
    let shore = try Shore()
    try shore.write {
      try $0.insert("mark", ["book": "--dune", "page": -12, "code": .blob([0xAB, 0x01]), "owner": "ana"])
    }
    let answer = CommandLineTool.answer(
      ["explain", "--schema", shore.schemaFile, shore.device, "mark", "--", "--dune", "-12", "AB01"])
    #expect(answer.output.contains("made here"), "\(answer.error)")
    let json = try shore.json(shore.explain("mark", "dune", "3", "00", "--json"))
    #expect(
      json["row"]
        == .object([
          .init("key", .array([.string("dune"), .integer(3), .object([.init("base64", .string("AA=="))])])),
          .init("table", .string("mark")),
        ]))
    for (words, error) in [
      (["mark", "dune"], "the key of mark is book page code, 1 words are given"),
      (["mark", "dune", "x", "00"], "mark.page: integer wanted"), (["mark", "dune", "1", "0g"], "hexadecimal digits"),
      (["mark", "dune", "1", "+1"], "hexadecimal digits"),
      (["marks", "dune"], "the schema has no table 'marks'; it has"),
    ] {
      let answer = CommandLineTool.answer(["explain", shore.device] + words + ["--schema", shore.schemaFile])
      #expect(answer.code == 2)
      #expect(answer.error.contains(error), "\(answer.error)")
    }
  }
}
