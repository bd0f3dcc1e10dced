// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit

/// What happens in the demonstration, step by step, and the check at its end.
struct DemoStory {
  private let stage: DemoStage
  private let isSabotaged: Bool
  private static let person = "C000127"

  init(_ stage: DemoStage, isSabotaged: Bool) {
    self.stage = stage
    self.isSabotaged = isSabotaged
  }

  /// - Returns: whether server, A and B hold the same rows.
  func run() throws -> Bool {
    try importOffline()
    let (server, address) = try stage.startServer()
    defer { server.quit() }
    say("server", "listens at \(address), on an empty database")
    let (a, greeting) = try stage.startDevice("ana", server: address)
    defer { a.quit() }
    say("A", "opens its file again: \(greeting)")
    say("A", "connects: \(try a.order("sync"))")
    let (b, _) = try stage.startDevice("ben", server: address)
    defer { b.quit() }
    say("B", "starts with an empty file and connects: \(try b.order("sync"))")
    try editOnBothSides(a, b)
    try editOnTheServer(a, b)
    return try compare()
  }

  /// A has no network, is killed in the middle, and goes on where it was.
  private func importOffline() throws {
    let (first, _) = try stage.startDevice("ana", server: nil)
    try first.send("import \(stage.data)/data \(DemoStage.team)")
    var acknowledged = "nothing"
    for _ in 0..<4 { acknowledged = try first.line() }
    first.kill()
    say("A", "imports contacts without a network, and is killed with kill -9 (last heard: \(acknowledged))")
    let (second, greeting) = try stage.startDevice("ana", server: nil)
    let waiting = Int(greeting.split(separator: " ").dropFirst(2).first ?? "") ?? 0
    let heard = Int(acknowledged.split(separator: " ").dropFirst().first ?? "") ?? 0
    guard waiting > heard else {
      throw DemoError(description: "\(heard) people and their team were acknowledged, \(waiting) writes are there")
    }
    say("A", "starts again: \(greeting); \(heard) people and their team were acknowledged, so nothing is lost")
    say("A", "goes on: \(try second.order("import \(stage.data)/data \(DemoStage.team)"))")
    second.kill()
    say("A", "is killed once more, with all of it waiting")
  }

  /// Both change one person while apart: other fields merge, increments add up.
  private func editOnBothSides(_ a: ChildProcess, _ b: ChildProcess) throws {
    let person = DemoStory.person
    _ = try a.order("set people \(person) phone 202-555-0101")
    _ = try a.order("add people \(person) visits 1")
    _ = try b.order("set people \(person) nickname Cantwell of the islands")
    _ = try b.order("add people \(person) visits 2")
    say("A, B", "change the phone and the nickname of one person while apart, and count visits, 1 and 2")
    for device in [a, b, a] { _ = try device.order("sync") }
    for (name, device) in [("A", a), ("B", b)] {
      let phone = try device.order("get people \(person) phone")
      let nickname = try device.order("get people \(person) nickname")
      let visits = try device.order("get people \(person) visits")
      say(name, "shows phone \(phone), nickname \(nickname), visits \(visits)")
      guard phone == "202-555-0101", nickname == "Cantwell of the islands", visits == "3" else {
        throw DemoError(description: "the two edits did not merge on \(name)")
      }
    }
    _ = try b.order("delete offices A000055-jasper")
    say("B", "deletes an office: \(try b.order("sync"))")
    say("A", "hears of it: \(try a.order("sync"))")
  }

  /// Another program writes the server's table with plain SQL, for once and in a moment: below SQLite 3.51.3 a second writer
  /// that stays and checkpoints beside the server is what `docs/gotchas.md` warns of.
  private func editOnTheServer(_ a: ChildProcess, _ b: ChildProcess) throws {
    let connection = try SQLiteConnection(path: stage.serverFile, mode: .writer)
    try connection.run("UPDATE people SET party = 'Independent' WHERE id = ?", .text(DemoStory.person))
    say("server", "somebody changes a row with SQL, past Skerry")
    for (name, device) in [("A", a), ("B", b)] {
      _ = try device.order("sync")
      let party = try device.order("get people \(DemoStory.person) party")
      say(name, "shows party \(party)")
      if party != "Independent" { throw DemoError(description: "the change did not reach \(name)") }
    }
  }

  private func compare() throws -> Bool {
    if isSabotaged {
      let connection = try SQLiteConnection(path: stage.deviceFile("ben"), mode: .writer)
      try connection.run("DELETE FROM offices WHERE id = (SELECT min(id) FROM offices)")
      say("B", "sabotage: one row is skipped on purpose")
    }
    let files = [("server", stage.serverFile), ("A", stage.deviceFile("ana")), ("B", stage.deviceFile("ben"))]
    let audits = try files.map { ($0.0, try Audit($0.1, stage.schema)) }
    for (name, audit) in audits {
      let counts = audit.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      say(name, "\(counts); digest \(audit.digest.prefix(24))")
    }
    return audits.allSatisfy { $0.1 == audits[0].1 }
  }

  private func say(_ who: String, _ text: String) {
    Output.line(who.padding(to: 8) + text)
  }
}

extension String {
  /// The text, with spaces behind it up to a width.
  fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
