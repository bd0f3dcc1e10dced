// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryCommands
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryWire
import Testing

/// `skerry inspect` on a device's file.
@Suite struct InspectTests {
  /// A file with something of everything: confirmed, pending, sent, refused, set aside and discarded.
  private func busyShore() throws -> Shore {
    let shore = try Shore()
    try shore.foreignItems(["one", "two", "three"])
    try shore.foreign(
      "CREATE TRIGGER app_check BEFORE INSERT ON draft BEGIN SELECT RAISE(ABORT, 'no \(Shore.secret)'); END")
    try shore.sync()
    try shore.write("a draft") { try $0.insert("draft", ["id": "d", "body": .text(Shore.secret), "owner": "ana"]) }
    try shore.foreignItems(["taken"])
    try shore.insert("taken", label: "late")
    try shore.sync()
    let first = try shore.set("one")
    _ = try shore.store.offer([first])
    try shore.set("one", Shore.secret + "?")
    let aside = try shore.delete("two")
    try shore.store.noteFailure(aside, "HTTP 500")
    try shore.store.setAside(aside)
    try shore.store.discard(try shore.insert("four"))
    return shore
  }

  @Test func `a device's file is told with its tables, spaces, outbox and refusals`() throws {
    let shore = try busyShore()
    let answer = shore.inspect()
    #expect(answer.code == 0)
    let lines = answer.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "device store, format 2: account ana, schema shore 3")
    #expect(lines.contains("  item    3     4          3        0"))
    #expect(lines.contains("  user:ana  4 rows  filled"))
    #expect(lines.contains("outbox: 4 entries"))
    #expect(lines.contains { $0.contains("n 3, sent") })
    #expect(lines.contains { $0.contains("n 4, waiting, waits for ") })
    #expect(
      lines.contains {
        $0.contains("set aside until somebody retries or discards, 1 failed attempt, last error: HTTP 500")
      })
    #expect(lines.contains { $0.contains("void: discarded here") })
    #expect(lines.contains { $0.contains("\"late\", rejected (exists): item/… exists already") })
    #expect(lines.contains { $0.contains("\"a draft\", rejected (constraint): (left out: it may quote values)") })
    #expect(lines.contains("now: no catch-up or refill under way"))
    #expect(lines.contains { $0.hasPrefix("last in step: 2027-01-15T08:0") && $0.hasSuffix("Z") })
  }

  @Test func `JSON has the same content and parses`() throws {
    let shore = try busyShore()
    let json = try shore.json(shore.inspect("--json"))
    #expect(json["kind"] == .string("device"))
    #expect(json["account"] == .string("ana"))
    #expect(json["phase"] == .string("atRest"))
    #expect(json["outbox"]?.items.map { $0["state"] } == ["sent", "waiting", "setAside", "void"].map { .string($0) })
    #expect(json["outbox"]?.items.map { $0["attempts"] } == [0, 0, 1, 0].map { .integer($0) })
    #expect(json["outbox"]?.items[1]["after"] == .array([json["outbox"]?.items[0]["id"] ?? .null]))
    #expect(json["rejections"]?.items.map { $0["code"] } == ["constraint", "exists"].map { .string($0) })
    let items = json["tables"]?.items.first { $0["name"] == .string("item") }
    #expect(items?["rows"] == .integer(3))
    #expect(items?["confirmed"] == .integer(4))
    #expect(items?["pending"] == .integer(3))
    #expect(json["cursor"]?["position"] == .integer(try #require(try shore.store.cursor?.position)))
  }

  @Test func `keys are shown only when asked`() throws {
    let shore = try busyShore()
    for words in [[], ["--json"]] {
      let without = CommandLineTool.answer(["inspect", shore.device] + words)
      #expect(!without.output.contains("taken"))
      #expect(!without.output.contains("item/one"))
      let with = CommandLineTool.answer(["inspect", shore.device, "--keys"] + words)
      #expect(with.output.contains("item/taken exists already"))
      #expect(with.output.contains("item/one") || with.output.contains(#""key":["one"],"table":"item""#))
    }
  }

  @Test func `a support bundle is made of a device's file, without values, keys, labels and names of spaces`() throws {
    let shore = try busyShore()
    let answer = CommandLineTool.answer(["inspect", shore.device, "--bundle"])
    #expect(answer.code == 0)
    let json = try JSON(parsing: Array(answer.output.utf8))
    #expect(json["tables"]?.items.count == 5)
    #expect(json["outbox"]?.items.count == 4)
    #expect(json["decisions"]?.items.map { $0["kind"] }.last == .string("discarded"))
    for hidden in [Shore.secret, "taken", "user:ana", "a draft", "HTTP 500", "\"one\""] {
      #expect(!answer.output.contains(hidden), "\(hidden)")
    }
    #expect(CommandLineTool.answer(["inspect", shore.server, "--bundle"]).code == 3)
    #expect(CommandLineTool.answer(["inspect", shore.device, "--bundle", "--keys"]).code == 2)
  }

  @Test func `the last decisions are shown, newest first`() throws {
    let lines = try busyShore().inspect().output.split(separator: "\n").map(String.init)
    let place = try #require(lines.firstIndex(of: "last decisions, newest first:"))
    #expect(lines[place + 1].contains(" discarded "))
    #expect(lines[place + 2].contains(" setAside "))
    #expect(lines.contains { $0.contains(" rejected (exists) ") && $0.contains(" of 1 by insert at position ") })
  }

  @Test func `no output holds a value that nobody asked for`() throws {
    let shore = try busyShore()
    try shore.foreignItems(["x1", "x2", "x3", "x4", "x5", "x6"])
    try shore.steps(2)
    var outputs: [CommandAnswer] = []
    for file in [shore.device, shore.server] {
      for words in [[], ["--json"], ["--keys"], ["--keys", "--json"]] {
        outputs.append(CommandLineTool.answer(["inspect", file] + words))
      }
      for key in [
        ["item", "one"], ["item", "two"], ["item", "taken"], ["item", "x1"], ["draft", "d"], ["team", "t"],
      ] {
        for words in [[], ["--json"]] {
          outputs.append(
            CommandLineTool.answer(["explain", file] + key + words + ["--schema", shore.schemaFile]))
        }
      }
    }
    for answer in outputs {
      #expect(answer.code == 0, "\(answer.error)")
      #expect(!answer.output.contains(Shore.secret), "\(answer.output)")
      #expect(!answer.output.contains(Hex.text(Array(Shore.secret.utf8))))
    }
    // The planted value is there to be found.
    #expect(shore.explain("item", "one", "--values").output.contains(Shore.secret))
    #expect(shore.explain("item", "one", "--values", "--json", file: shore.server).output.contains(Shore.secret))
  }

  @Test func `a first sync, a held catch-up, a long one and a lost space are told`() throws {
    let shore = try Shore(isSynced: false)
    #expect(shore.inspect().output.contains("now: never synced"))
    #expect(shore.inspect().output.contains("cursor: none"))
    try shore.foreignItems((0..<9).map { "i\($0)" })
    try shore.steps(2)
    #expect(shore.inspect().output.contains("now: spaces are being filled, "))
    #expect(shore.inspect().output.contains("exceptions:"))
    #expect(try shore.json(shore.inspect("--json"))["phase"] == .string("filling"))
    try shore.sync()

    try shore.foreignItems((0..<9).map { "j\($0)" })
    try shore.steps(1)
    #expect(shore.inspect().output.contains("now: a catch-up is kept aside until it is whole, 4 items so far"))
    let tables = try #require(try shore.json(shore.inspect("--json"))["tables"]).items
    #expect(tables.first { $0["name"] == .string("item") }?["staged"] == .integer(4))
    try shore.sync()

    try shore.store.longCatchUp = 3
    try shore.foreignItems((0..<9).map { "k\($0)" })
    try shore.steps(1)
    #expect(shore.inspect().output.contains("now: a long catch-up is published page by page, "))
    try shore.sync()

    try shore.foreign("DELETE FROM member WHERE id = 'at'")
    try shore.sync()
    let spaces = try #require(try shore.json(shore.inspect("--json"))["spaces"]).items
    #expect(spaces.first { $0["name"] == .string("team:t") }?["state"] == .string("lost"))
    #expect(shore.inspect().output.contains("lost, and not acknowledged:\n  team:t"))
  }

  @Test func `text from elsewhere cannot forge lines, and is escaped in JSON`() throws {
    let shore = try Shore()
    try shore.insert("x", label: "one\ntwo \u{1B}[2J\"\\")
    let text = shore.inspect()
    #expect(text.output.contains(#"one\u{a}two \u{1b}[2J"\"#))
    #expect(!text.output.contains("\u{1B}"))
    let json = try shore.json(shore.inspect("--json"))
    #expect(json["outbox"]?.items.first?["label"] == .string("one\ntwo \u{1B}[2J\"\\"))
  }

  @Test func `a long outbox is cut for a person and whole in JSON`() throws {
    let shore = try Shore()
    for number in 0..<53 { try shore.insert("n\(number)") }
    #expect(shore.inspect().output.contains("  and 3 more; --json lists all"))
    #expect(try shore.json(shore.inspect("--json"))["outbox"]?.items.count == 53)
  }
}
