// SPDX-License-Identifier: Apache-2.0
import SkerryCommands
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTesting
import SkerryWire
import Testing

/// `skerry inspect` and `skerry explain` on a server's file.
@Suite struct ServerTests {
  @Test func `a server's file is told with its log, captures, spaces and replicas`() throws {
    let shore = try Shore()
    try shore.insert("one")
    try shore.sync()
    try shore.foreignItems(["taken"])
    try shore.insert("taken")
    try shore.sync()
    try shore.foreign("DELETE FROM item WHERE id = 'one'")
    try shore.sync()
    try shore.foreignItems(["late"])
    let lines = shore.inspect(file: shore.server).output.split(separator: "\n").map(String.init)
    #expect(lines.first?.hasPrefix("server database: schema shore 3, fingerprint ") == true)
    #expect(lines.contains("  item    2     1"))
    #expect(lines.contains { $0.hasPrefix("log: ") && $0.hasSuffix(", 1 tombstone among them") })
    #expect(lines.contains("captures waiting for the sequencer: 1"))
    #expect(lines.contains { $0.hasPrefix("  user:ana  1 row ") })
    #expect(lines.contains { $0.hasSuffix("account ana  settled up to 2  2 receipts") })
    #expect(lines.contains("receipts: confirmed 1, conflicted 0, rejected 1, void 0"))
    let json = try shore.json(shore.inspect("--json", file: shore.server))
    let history = try shore.world.server.history()
    #expect(json["kind"] == .string("server"))
    #expect(json["position"] == .integer(history.head))
    #expect(json["epoch"] == .string(history.epoch))
    #expect(json["captures"] == .integer(1))
    #expect(json["log"]?["deleted"] == .integer(1))
    let digest = try shore.world.server.digest(of: "user:ana")
    let space = json["spaces"]?.items.first { $0["name"] == .string("user:ana") }
    #expect(space?["digest"] == .string(digest.description))
    #expect(space?["rows"] == .integer(1))
  }

  @Test func `each sentence about a row on a server`() throws {
    let shore = try Shore()
    func conclusion(_ id: String) throws -> String { try shore.conclusion(id, file: shore.server) }
    #expect(try conclusion("one") == "not there, and never was: no tombstone has been removed yet")
    try shore.foreignItems(["one"])
    #expect(try conclusion("one") == "there, its newest change waits for the sequencer and has no position yet")
    try shore.foreign("INSERT INTO item(id) VALUES ('nowhere')")
    try shore.foreignItems(["leaves"])
    try shore.sync()
    let position = try #require(try shore.json(shore.explain("item", "one", "--json", file: shore.server))["log"])
      .items[0]["position"]
    guard case .integer(let number)? = position else { throw WorldError("no position") }
    #expect(try conclusion("one") == "there, in user:ana, last changed at position \(number)")
    #expect(try conclusion("nowhere") == "there, and in no space: no device can see it")
    try shore.foreign("DELETE FROM item WHERE id = 'one'", "UPDATE item SET home = NULL WHERE id = 'leaves'")
    #expect(try conclusion("one") == "not there: its end waits for the sequencer and has no position yet")
    try shore.sync()
    #expect(try conclusion("one").hasPrefix("not there: deleted at position "))
    #expect(shore.explain("item", "one", file: shore.server).output.contains("it is no more"))
    #expect(shore.explain("item", "leaves", file: shore.server).output.contains("it left the space"))
    try shore.foreign("DELETE FROM item WHERE id = 'leaves'")
    try shore.sync()
    #expect(try conclusion("leaves").hasPrefix("not there: it left its spaces at position "))
    try shore.world.server.expire(upTo: .max)
    let floor = try shore.world.server.history().floor
    #expect(try conclusion("one") == "not there: it never was, or was deleted before the floor at position \(floor)")
    try shore.foreign("DROP TRIGGER skerry_insert_item", "INSERT INTO item(id) VALUES ('unseen')")
    #expect(
      try conclusion("unseen") == "there, and never captured: the server must be started once more to adopt it")
  }

  @Test func `captures are told with what was done`() throws {
    let shore = try Shore()
    try shore.foreignItems(["one"])
    try shore.foreign("UPDATE item SET n = 3", "DELETE FROM item")
    let json = try shore.json(shore.explain("item", "one", "--json", file: shore.server))
    #expect(json["captures"]?.items.map { $0["change"] } == ["insert", "update", "delete"].map { .string($0) })
    #expect(json["header"]?["dead"] == .bool(true))
  }
}
