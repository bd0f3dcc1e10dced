// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryCommands
import SkerryModel
import SkerrySQLiteKit
import SkerryWire
import Testing

/// Whether the judges find what is wrong: a small world, true at first, with one thing changed.
@Suite struct JudgementTests {
  private static let ids = (1...9).map { "00000000-0000-7000-8000-00000000000\($0)" }

  /// What one device was told, what it has, and what the server has. Order 4 has no answer, and counted; order 5 has none, and
  /// never was; order 6 was refused by the server, since somebody had ended the row.
  private struct World {
    var ledger = LedgerContent()
    var server = ServerContent()
    var device = DeviceContent()

    init() {
      let steps: [[Step]] = [
        [.insert(Rows.counters[0], ["last": "C0"])], Writer.insert(2, by: "phone.0"),
        Writer.count(0, 3, "3"), Writer.count(0, 5, "4"), Writer.count(0, 7, "5"),
        [.delete(RowName(table: "people", id: "X1"))],
      ]
      for (index, steps) in steps.enumerated() {
        let (number, id) = (index + 1, ids[index])
        let order = Order(writer: "phone.0", number: number, steps: steps)
        ledger.add(order, number == 4 || number == 5 ? nil : .done(mutation: id))
        if number == 5 { continue }
        device.mutations.append(.init(id: id, label: order.label, place: number == 6 ? .inbox : .archive))
        server.receipts[id] = number == 6 ? "rejected" : "confirmed"
        if number == 6 { continue }
        for case .insert(let row, let values) in steps { server.rows[row] = values }
      }
      server.rows[Rows.counters[0]]?["visits"] = 8
      device.replicas = ["r"]
      device.counter = 5
      server.numbers["r"] = (5, 5)
    }

    var judgement: Judgement { Judgement(ledger, server, ["phone": device]) }
    var faults: [String] { judgement.faults }
  }

  @Test func `a true world has no faults, and the unknown are counted`() {
    let judgement = World().judgement
    #expect(judgement.faults.isEmpty, "\(judgement.faults)")
    #expect((judgement.unknownCounted, judgement.unknownNever, judgement.refusals) == (1, 1, 1))
  }

  @Test func `every ledger that lies is found out`() {
    var world = World()
    let forgeries = Forgery.all(world.ledger)
    #expect(forgeries.count == 4)
    for (name, ledger) in forgeries {
      world.ledger = ledger
      #expect(!world.faults.isEmpty, "\(name)")
    }
  }

  @Test func `an acknowledged write that never happened is found`() {
    var world = World()
    world.ledger.add(
      Order(writer: "phone.0", number: 9, steps: Writer.insert(9, by: "phone.0")),
      .done(mutation: JudgementTests.ids[8]))
    #expect(world.faults == ["order 9 was acknowledged by phone, which has it 0 times"])
  }

  @Test func `an increment that counted twice is found, and one that counted by half`() {
    var world = World()
    world.server.rows[Rows.counters[0]]?["visits"] = 11
    #expect(world.faults.count == 1)
    world.server.rows[Rows.counters[0]]?["visits"] = 8
    world.server.rows[RowName(table: "offices", id: "M3")] = nil
    #expect(world.faults.count == 1)
  }

  @Test func `an unknown increment that left a mark, and is on no device, is found`() {
    var world = World()
    for case .insert(let row, let values) in Writer.count(0, 7, "5") { world.server.rows[row] = values }
    world.server.rows[Rows.counters[0]]?["visits"] = 15
    #expect(world.faults.count == 2)
  }

  @Test func `a row that was lost, one that nobody made, and a change that was undone are found`() {
    var world = World()
    let office = RowName(table: "offices", id: "O2b")
    world.server.rows[office] = nil
    #expect(world.faults == ["offices/O2b of order 2 is missing"])
    world = World()
    world.server.rows[RowName(table: "people", id: "P7")] = [:]
    #expect(world.faults.count == 1)
    world = World()
    world.server.rows[RowName(table: "people", id: "P2")]?["role"] = "older"
    #expect(world.faults.count == 1)
  }

  @Test func `refusals, receipts and numbers that nobody expects are found`() {
    var world = World()
    world.device.mutations[1].place = .inbox
    #expect(!world.faults.isEmpty)
    world = World()
    world.server.receipts[JudgementTests.ids[1]] = "rejected"
    #expect(!world.faults.isEmpty)
    world = World()
    world.server.receipts[JudgementTests.ids[8]] = "confirmed"
    #expect(!world.faults.isEmpty)
    world = World()
    world.device.mutations[1].place = .outbox
    #expect(!world.faults.isEmpty)
    world = World()
    world.device.replicas.append("another")
    #expect(!world.faults.isEmpty)
    world = World()
    world.server.numbers["r"] = (4, 5)
    #expect(!world.faults.isEmpty)
  }

  @Test func `a ledger is read from the disk as it was written, while it grows`() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(
      "skerry-ledger-" + ProcessInfo.processInfo.globallyUniqueString
    ).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let ledger = try Ledger(path: path)
    var content = LedgerContent()
    let world = World()
    for order in world.ledger.orders {
      try await ledger.intend(order)
      try content.read(path)
      #expect(content.orders.last?.steps == order.steps)
      #expect(content.orders.last?.writer == order.writer)
      #expect(content.answers[order.number] == nil)
      switch world.ledger.answers[order.number] {
      case .done(let id)?: try await ledger.acknowledge(order, mutation: id)
      case .refused(let reason)?: try await ledger.refuse(order, reason)
      case nil: try await ledger.note("nothing was heard")
      }
    }
    try content.read(path)
    #expect(content.orders.count == world.ledger.orders.count)
    #expect(content.answers == world.ledger.answers)
  }
}

/// Whether the look into a file after a death finds what is there by half.
@Suite struct AutopsyTests {
  private static let statements: [(sql: String, faults: Int)] = [
    ("UPDATE people SET visits = 8 WHERE id = 'C0'", 1),
    ("DELETE FROM offices WHERE id = 'M3'", 1),
    ("DELETE FROM people WHERE id = 'P2'", 1),
    ("DELETE FROM offices WHERE id = 'O2b'", 1),
    ("UPDATE offices SET hours = 'older' WHERE id = 'O2a'", 1),
    ("UPDATE people SET phone = 'older' WHERE id = 'X1'", 1),
    ("SELECT 1", 0),
  ]

  @Test(arguments: statements.indices)
  func `what is there by half is found`(_ index: Int) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(
      "skerry-autopsy-" + ProcessInfo.processInfo.globallyUniqueString
    ).path
    defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
    let connection = try SQLiteConnection(path: path, mode: .writer)
    try connection.execute(
      """
      CREATE TABLE people(id TEXT PRIMARY KEY, role TEXT, nickname TEXT, phone TEXT, visits INTEGER DEFAULT 0);
      CREATE TABLE offices(id TEXT PRIMARY KEY, person TEXT, hours TEXT, suite TEXT);
      INSERT INTO people(id, visits) VALUES ('C0', 3), ('C1', 0);
      INSERT INTO offices(id, person, suite) VALUES ('M3', 'C0', '5'), ('M4', 'C0', '-2');
      INSERT INTO people(id, role) VALUES ('P2', 't2');
      INSERT INTO offices(id, person, hours) VALUES ('O2a', 'P2', 't2'), ('O2b', 'P2', NULL);
      INSERT INTO people(id, nickname, phone) VALUES ('X1', 't7', 't7');
      """)
    let (sql, faults) = AutopsyTests.statements[index]
    try connection.execute(sql)
    #expect(try Autopsy.faults(path).count == faults)
  }

  @Test func `a promise that the device's file does not hold is found`() {
    var ledger = LedgerContent()
    let order = Order(writer: "phone.1", number: 1, steps: Writer.insert(1, by: "phone.1"))
    ledger.add(order, .done(mutation: "m"))
    var file = DeviceContent()
    #expect(Autopsy.lost(file, "phone", ledger).count == 1)
    #expect(Autopsy.lost(file, "desk", ledger).isEmpty)
    file.mutations = [.init(id: "m", label: order.label, place: .outbox)]
    #expect(Autopsy.lost(file, "phone", ledger).isEmpty)
    file.mutations.append(.init(id: "m", label: order.label, place: .archive))
    #expect(Autopsy.lost(file, "phone", ledger).count == 1)
  }
}
