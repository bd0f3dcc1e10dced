// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// Faults planted on purpose, to see that the sweeps find them.
@Suite struct CanaryTests {
  /// The work of a script, done by hand in two transactions: first some tables, then all.
  private static func torn(_ script: Script, _ first: [String]) -> Script {
    Script("\(script.name), torn at \(first.joined(separator: ", "))", script.victim, transactions: nil) { world in
      try script.prepare(world)
      // A cursor from a sequencer run that only the copy has seen would be repaired by a refill.
      if script.victim != .server { try world.server.sequence() }
    } steps: { world in
      let (done, ledger) = try outcome(of: script, world)
      let machine = script.victim.machine
      for (name, content) in done.only(script.file).files {
        world.disk.setBytes(Array(content), of: "\(machine).done\(name.dropFirst(script.file.count))", on: machine)
      }
      world.ledger.begun = ledger.begun
      world.ledger.unmarked = ledger.unmarked
      return [
        {
          try world.withConnection(of: script.victim) { connection in
            let process = world.label(script.victim.program)
            let path = MemoryDisk.path(process: process, machine: machine, file: machine + ".done")
            try connection.execute("ATTACH '\(path)' AS done")
            try copy(first, connection)
            try copy(try tables(connection), connection)
            try connection.execute("DETACH done")
          }
          world.ledger = ledger
        }
      ]
    }
  }

  /// A copy of the world in which the script has run.
  private static func outcome(of script: Script, _ world: MortalWorld) throws -> (FileImage, Ledger) {
    let copy = try Moment(image: FileImage(of: world.disk), ledger: world.ledger).wakened(script, seed: 5)
    for step in try script.steps(copy) { try step() }
    copy.shutDown()
    return (FileImage(of: copy.disk), copy.ledger)
  }

  /// The app's tables first, since their triggers write what is copied after them.
  private static func tables(_ connection: SQLiteConnection) throws -> [String] {
    try connection.query(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name LIKE 'skerry%', name"
    ) { $0.text(0) }
  }

  private static func copy(_ tables: [String], _ connection: SQLiteConnection) throws {
    try connection.transaction(.immediate) {
      for table in tables {
        try connection.execute("DELETE FROM main.\(table)")
        try connection.execute("INSERT INTO main.\(table) SELECT * FROM done.\(table)")
      }
    }
  }

  private static let torn = [
    torn(.pages[0], ["skerry_state"]),
    torn(.writes[0], ["item", "doc", "note"]),
    torn(.writes[0], ["skerry_outbox", "skerry_subjects"]),
    torn(.servers[0], ["skerry_receipts", "skerry_homes", "skerry_numbers"]),
    torn(.servers[0], ["item", "note"]),
    torn(.servers[2], ["skerry_log", "skerry_history", "skerry_runs"]),
    torn(.servers[2], ["skerry_captures"]),
  ]

  @Test func `the work done by hand in one transaction passes`() throws {
    for script in [Script.pages[0], .writes[0], .servers[0], .servers[2]] {
      let sweep = try DiskSweep(CanaryTests.torn(script, []))
      try sweep.run(.death, every: 16)
      #expect(sweep.faults.list == [])
      #expect(sweep.runs > 2)
    }
  }

  @Test(arguments: torn)
  func `a commit in two halves is found by what is between them`(_ script: Script) throws {
    let sweep = try DiskSweep(script)
    #expect(try sweep.finds(.death))
  }

  @Test func `a page that is in before its cursor is found, though it does no harm`() throws {
    let whole = Script.pages[0]
    let halves = CanaryTests.torn(whole, ["item", "doc"])
    let script = Script(halves.name, halves.victim, transactions: 1, prepare: halves.prepare, steps: halves.steps)
    #expect(try !Sweep.deaths(script).faults.list.isEmpty)
  }

  @Test func `a number that is used twice is found`() throws {
    let script = Script("a counter that goes back", .device("ana"), transactions: nil) { world in
      [
        {
          try world.write("ana", 1)
          _ = try world.push("ana")
          try world.store("ana").withConnection { try $0.execute("UPDATE skerry_state SET counter = counter - 1") }
        }
      ]
    }
    let sweep = try DiskSweep(script)
    try sweep.run(.death, every: 2)
    #expect(sweep.faults.list.contains { $0.hasSuffix("a number was used twice") })
  }

  @Test func `an error that is swallowed is found, and so is memory that drifts from the file`() throws {
    let swallowing = Script("a write that tells of no error", .device("ana"), transactions: nil) { world in
      [{ do { try world.write("ana", 1) } catch is SQLiteError {} }]
    }
    let drifting = Script("a write that leaves something behind", .device("ana"), transactions: nil) { world in
      [
        {
          do { try world.write("ana", 1) } catch {
            try world.store("ana").withConnection { try $0.execute("UPDATE skerry_state SET mismatches = 1") }
            throw error
          }
        }
      ]
    }
    let swallowed = try Sweep.failures(swallowing, [.full])
    #expect(swallowed.faults.list.contains { $0.hasSuffix("the error was swallowed") })
    let drifted = try Sweep.failures(drifting, [.full])
    #expect(drifted.faults.list.contains { $0.hasSuffix("memory drifts") })
  }
}
