// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTesting

/// Interrupts a script at every statement of its victim, in one of two ways, and tells what was wrong afterwards.
struct Sweep {
  /// At how many calls it was interrupted.
  private(set) var calls = 0
  /// How many transactions changed something.
  private(set) var commits = 0
  let faults = Faults()
  private let script: Script

  /// No step makes so many calls.
  private static let patience = 1_000

  private init(_ script: Script) { self.script = script }

  // MARK: A process that dies again and again

  /// Lets the victim die at the first call of a step, then at the second, until the step is through; each time the next
  /// process opens the files. The others live on, and never get the answers that died.
  static func deaths(_ script: Script) throws -> Sweep {
    var sweep = Sweep(script)
    let world = try Recording.of(script).start.wakened(script, seed: 4)
    let steps = try script.steps(world)
    var before = try world.dump(script.file)
    for step in steps {
      var number = 1
      while number < Sweep.patience {
        let watch = Watch(.dies(at: number))
        try world.attach(watch, to: script.victim)
        let result = Result { try step() }
        watch.isActive = false
        if watch.isDead { try world.bury() } else { try result.get() }
        let after = try world.dump(script.file)
        if after != before { try sweep.noteCommit(world, isHalf: watch.wasInTransaction) }
        if !watch.isDead { break }
        sweep.calls += 1
        number = after == before ? number + 1 : 1
        before = after
      }
      before = try world.dump(script.file)
    }
    sweep.faults.add(world.goOn(isCopied: script.isCopied), of: "the end")
    sweep.expectCommits()
    return sweep
  }

  // MARK: Errors

  /// Lets the first call of a step fail, then the second, until the step is through, all in one process: the caller gets the
  /// error, and memory and file are as before. The faults take turns.
  static func failures(_ script: Script, _ faults: [Watch.Fault]) throws -> Sweep {
    var sweep = Sweep(script)
    let world = try Recording.of(script).start.wakened(script, seed: 4)
    let steps = try script.steps(world)
    var before = try world.dump(script.file)
    var fresh = try sweep.opened(world)
    for step in steps {
      var number = 1
      while number < Sweep.patience {
        let fault = faults[sweep.calls % faults.count]
        let watch = Watch(.fails(at: number, fault))
        try world.attach(watch, to: script.victim)
        let result = Result { try step() }
        watch.isActive = false
        if watch.failed == nil { try result.get() } else { sweep.expectError(result, fault, watch) }
        let after = try world.dump(script.file)
        if after != before {
          try sweep.noteCommit(world, isHalf: watch.wasInTransaction && !sweep.mayGoOnInPart(faults))
          fresh = try sweep.opened(world)
        }
        if case .device(let name) = script.victim {
          sweep.faults.expect(
            try Memory(world.store(name)) == fresh, "call \(number), \(watch.failed ?? ""): memory drifts")
        }
        if watch.failed == nil { break }
        sweep.calls += 1
        number = after == before ? number + 1 : 1
        before = after
      }
      before = try world.dump(script.file)
    }
    sweep.faults.add(world.goOn(isCopied: script.isCopied), of: "the end")
    if !sweep.mayGoOnInPart(faults) { sweep.expectCommits() }
    return sweep
  }

  /// A server that finds its database busy does what it can without, and says so.
  private func mayGoOnInPart(_ faults: [Watch.Fault]) -> Bool { script.victim == .server && faults.contains(.busy) }

  private func opened(_ world: MortalWorld) throws -> Memory? {
    guard case .device(let name) = script.victim else { return nil }
    return try Memory(opening: name, of: world)
  }

  private func expectError(_ result: Result<Void, any Error>, _ fault: Watch.Fault, _ watch: Watch) {
    guard case .device = script.victim else { return }  // the server may answer that it was busy
    guard case .failure(let error) = result else { return faults.add("\(watch.failed ?? ""): the error was swallowed") }
    let code = (error as? SQLiteError)?.extendedCode
    faults.expect(code == fault.rawValue, "\(watch.failed ?? ""): the caller got \(error)")
  }

  // MARK: Afterwards

  private mutating func noteCommit(_ world: MortalWorld, isHalf: Bool) throws {
    commits += 1
    if commits > 10 * (script.transactions ?? 10) { throw WorldError("\(script.name): it never gets any further") }
    faults.expect(!isHalf, "commit \(commits): half of a transaction is there")
    faults.add(try WorldAudit.faults(world), of: "commit \(commits)")
  }

  private func expectCommits() {
    guard let expected = script.transactions else { return }
    faults.expect(commits == expected, "\(commits) commits changed something, \(expected) expected")
  }
}
