// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryAmbientKit
import SkerryModel
import SkerrySQLiteKit
import SkerryWire

/// What happens in the demonstration, step by step, and the check at its end.
struct DemoStory {
  private let stage: DemoStage
  private let options: DemoOptions
  private let timeline = Timeline()
  private static let person: JSON = "C000127"
  private static let office: JSON = "A000055-jasper"

  init(_ stage: DemoStage, _ options: DemoOptions) {
    self.stage = stage
    self.options = options
  }

  /// - Returns: whether server, A and B hold the same rows.
  func run() async throws -> Bool {
    timeline.begin()
    try await importOffline()
    let server = try ServerProcess(stage.files)
    timeline.say(.server, "starts at port \(server.port), on an empty database")
    let a = try await connectFirst(server)
    let b = try await connectSecond(server)
    try await loseAnAnswer(a)
    try await editOnBothSides(a, b)
    try await refuse(a, b)
    let next = try await killServer(server, a, b)
    try await editOnTheServer(a, b)
    for device in [a, b] { device.process.end() }
    next.process.end()
    return try compare()
  }

  // MARK: Steps

  /// A has no network, is killed in the middle, and goes on where it was.
  private func importOffline() async throws {
    let first = try device("ana", server: nil)
    let order: JSON = ["folder": .string(stage.data + "/data"), "team": .string(DemoStage.team)]
    let acknowledged = try await importInPart(first, order)
    first.process.kill()
    timeline.say(
      .deviceA, "imports contacts without a network, and is killed with kill -9 after \(acknowledged) writes")
    let second = try device("ana", server: nil)
    try require(second.pending >= acknowledged, "\(acknowledged) writes were acknowledged, \(second.pending) are there")
    timeline.say(
      .deviceA, "opens its file again: \(second.pending) writes wait. None is lost: rows and outbox are one transaction"
    )
    try await second.order("/import", order)
    let all = try await pending(second)
    second.process.kill()
    timeline.say(.deviceA, "imports the rest, and is killed again with all \(all) writes waiting")
  }

  /// Lets a device import until some of it is written.
  ///
  /// - Returns: how many writes it has acknowledged by then.
  private func importInPart(_ device: DeviceProcess, _ order: JSON) async throws -> Int {
    return try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask {
        try await device.order("/import", order)
        return try await pending(device)
      }
      group.addTask {
        while true {
          let waiting = try await pending(device)
          if waiting >= 150 { return waiting }
          try await SystemAmbient.clock.sleep(for: .milliseconds(2))
        }
      }
      defer { group.cancelAll() }
      guard let first = try await group.next() else { throw ProcessError("the import said nothing") }
      return first
    }
  }

  private func connectFirst(_ server: ServerProcess) async throws -> DeviceProcess {
    let a = try device("ana", server: server)
    timeline.say(.deviceA, "opens its file with \(a.pending) writes waiting, and connects")
    try await sync(a)
    timeline.message(.deviceA, .server, "\(a.pending) writes, in batches")
    timeline.say(.server, "judges each write once, in the order in which A made them")
    timeline.message(.server, .deviceA, "receipts and rows")
    timeline.say(.deviceA, "has the receipts of all; its outbox is empty")
    return a
  }

  private func connectSecond(_ server: ServerProcess) async throws -> DeviceProcess {
    let b = try device("ben", server: server)
    timeline.say(.deviceB, "starts with an empty file, and connects")
    try await sync(b)
    let people = try await number(b, "SELECT count(*) FROM people")
    let offices = try await number(b, "SELECT count(*) FROM offices")
    timeline.message(.server, .deviceB, "rows of the spaces that B may see")
    timeline.say(.deviceB, "shows \(people) people and \(offices) offices")
    return b
  }

  /// The answer to an increment is lost.
  private func loseAnAnswer(_ a: DeviceProcess) async throws {
    try await write(a, [increment(1)])
    try await a.order("/network", ["next": ["dropAnswer"]])
    let first = try await a.order("/sync")
    timeline.say(.deviceA, "counts a visit of one person")
    timeline.message(.deviceA, .server, "visits + 1")
    timeline.message(.server, .deviceA, "receipt", isLost: true)
    try require(first["pending"] == 1, "the write was settled although its answer was lost")
    try await sync(a)
    let visits = try await number(a, "SELECT visits FROM people WHERE id = ?", [DemoStory.person])
    try require(visits == 1, "the visit counts \(visits) times")
    timeline.message(.deviceA, .server, "the same write again")
    timeline.say(.server, "knows its id and gives the stored receipt: the visit counts once")
  }

  /// Both change one person while apart: other fields merge, increments add up.
  private func editOnBothSides(_ a: DeviceProcess, _ b: DeviceProcess) async throws {
    for device in [a, b] { try await device.order("/network", ["offline": true]) }
    try await write(a, [update("people", DemoStory.person, ["phone": "202-555-0101"]), increment(2)])
    timeline.say(.deviceA, "in airplane mode, changes the person's phone, and counts 2 visits")
    try await write(b, [update("people", DemoStory.person, ["nickname": "Cantwell of the islands"]), increment(4)])
    timeline.say(.deviceB, "in airplane mode too, changes the same person's nickname, and counts 4 visits")
    for device in [a, b] { try await device.order("/network", ["offline": false]) }
    for device in [a, b, a] { try await sync(device) }
    timeline.message(.deviceA, .server, "fields that changed")
    timeline.message(.deviceB, .server, "fields that changed")
    for (place, device) in [(Timeline.Place.deviceA, a), (.deviceB, b)] {
      let row = try await device.rows("SELECT phone, nickname, visits FROM people WHERE id = ?", [DemoStory.person])
      try require(
        row == [["202-555-0101", "Cantwell of the islands", 7]], "the edits did not merge on \(place.title): \(row)")
      timeline.say(place, "shows both fields, and 1 + 2 + 4 = 7 visits: nobody's edit was lost")
    }
  }

  /// One deletes what the other edits.
  private func refuse(_ a: DeviceProcess, _ b: DeviceProcess) async throws {
    try await write(b, [["op": "delete", "table": "offices", "key": [DemoStory.office]]])
    try await sync(b)
    timeline.say(.deviceB, "deletes an office")
    timeline.message(.deviceB, .server, "delete")
    try await write(a, [update("offices", DemoStory.office, ["phone": "202-555-0199"])])
    try await sync(a)
    timeline.say(.deviceA, "has not heard of it, and changes that office's phone")
    timeline.message(.server, .deviceA, "refused, with the reason")
    let answer = try await a.order("/rejections")
    guard case .array(let list)? = answer["rejections"], let refusal = list.first,
      case .string(let reason)? = refusal["reason"],
      case .string(let id)? = refusal["id"]
    else { throw ProcessError("the edit of a deleted office was not refused") }
    timeline.say(
      .deviceA, "shows the refusal until somebody has read it: \"\(reason)\". What was typed is kept with it")
    try await a.order("/acknowledge", ["id": .string(id)])
  }

  /// The server dies between its commit and its answer, and starts again.
  private func killServer(_ server: ServerProcess, _ a: DeviceProcess, _ b: DeviceProcess) async throws -> ServerProcess
  {
    server.process.end()
    let mortal = try ServerProcess(stage.files, port: server.port, stopAt: "answer:1")
    try await write(a, [increment(8)])
    let syncing = Task { try await a.order("/sync") }
    try await mortal.process.waitUntilStopped()
    mortal.process.kill()
    _ = try await syncing.value
    timeline.say(.deviceA, "counts 8 visits more")
    timeline.message(.deviceA, .server, "visits + 8")
    timeline.say(.server, "is killed with kill -9 after it has committed, before it answers; starts again")
    let next = try ServerProcess(stage.files, port: server.port)
    for device in [a, b] { try await sync(device) }
    timeline.message(.deviceA, .server, "the same write again")
    for device in [a, b] {
      let visits = try await number(device, "SELECT visits FROM people WHERE id = ?", [DemoStory.person])
      try require(visits == 15, "15 visits were counted, \(visits) are shown")
    }
    timeline.say(.server, "has the receipt in its file: 15 visits here and on both devices")
    return next
  }

  /// Another program writes the server's table with plain SQL, for once and in a moment: below SQLite 3.51.3 a second writer
  /// that stays and checkpoints beside the server is what `docs/gotchas.md` warns of.
  private func editOnTheServer(_ a: DeviceProcess, _ b: DeviceProcess) async throws {
    let connection = try SQLiteConnection(path: stage.files.database, mode: .writer)
    try connection.run("UPDATE people SET party = 'Independent' WHERE id = ?", .text("C000127"))
    timeline.say(.server, "somebody changes a row with SQL, past Skerry; a trigger notes it in the same transaction")
    for (place, device) in [(Timeline.Place.deviceA, a), (.deviceB, b)] {
      try await sync(device)
      let party = try await device.rows("SELECT party FROM people WHERE id = ?", [DemoStory.person])
      try require(party == [["Independent"]], "the change did not reach \(place.title)")
      timeline.say(place, "shows the new party")
    }
  }

  // MARK: The check

  private func compare() throws -> Bool {
    if options.isSabotaged {
      let connection = try SQLiteConnection(path: stage.deviceFile("ben"), mode: .writer)
      try connection.run("DELETE FROM offices WHERE id = (SELECT min(id) FROM offices)")
      timeline.say(.deviceB, "sabotage: one row is skipped on purpose")
    }
    let places: [(Timeline.Place, String)] = [
      (.deviceA, stage.deviceFile("ana")), (.server, stage.files.database), (.deviceB, stage.deviceFile("ben")),
    ]
    Output.line("\nEach file, read by a full scan that knows nothing of Skerry:")
    var audits: [Audit] = []
    for (place, file) in places {
      let audit = try Audit(file, stage.schema)
      let counts = audit.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      Output.line("  \(place.title): \(counts); digest \(audit.digest.prefix(32))")
      audits.append(audit)
    }
    return audits.allSatisfy { $0 == audits[0] }
  }

  private func require(_ condition: Bool, _ complaint: String) throws(ProcessError) {
    if !condition { throw ProcessError(complaint) }
  }
}

extension DemoStory {
  // MARK: Devices

  private func device(_ account: String, server: ServerProcess?) throws -> DeviceProcess {
    try DeviceProcess(
      stage.files, account: account,
      .init(server: server?.address, seed: options.seed &* 2 + (account == "ana" ? 0 : 1)))
  }

  /// Syncs until the device is as the server is; with lost messages that takes several rounds.
  private func sync(_ device: DeviceProcess) async throws {
    let chances: JSON = ["dropRequest": .real(options.drop), "dropAnswer": .real(options.drop)]
    try await device.order("/network", ["chances": chances])
    var answer: JSON = nil
    for _ in 0..<500 {
      answer = try await device.order("/sync")
      if answer["report"]?["consistent"] == true, answer["pending"] == 0 { break }
    }
    try await device.order("/network", ["chances": ["dropRequest": 0, "dropAnswer": 0]])
    try require(answer["pending"] == 0, "a device did not come in step with its server: \(answer["condition"] ?? nil)")
  }

  private func write(_ device: DeviceProcess, _ operations: [JSON]) async throws {
    try await device.order("/write", ["operations": .array(operations)])
  }

  private func update(_ table: String, _ id: JSON, _ values: JSON) -> JSON {
    ["op": "update", "table": .string(table), "key": [id], "values": values]
  }

  private func increment(_ amount: Int64) -> JSON {
    ["op": "increment", "table": "people", "key": [DemoStory.person], "column": "visits", "by": .integer(amount)]
  }

  private func pending(_ device: DeviceProcess) async throws -> Int {
    if case .integer(let number)? = try await device.order("/state")["pending"] { return Int(number) }
    return 0
  }

  private func number(_ device: DeviceProcess, _ sql: String, _ values: [JSON] = []) async throws -> Int {
    if case .integer(let number)? = try await device.rows(sql, values).first?.first { return Int(number) }
    return 0
  }
}
