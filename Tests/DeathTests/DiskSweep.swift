// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport

/// Interrupts a script at each call of its victim on the disk, from the opening of its file on, and tells what was wrong
/// afterwards. Each run begins at the same moment, with files as a kill has left them.
final class DiskSweep {
  /// What a call meets.
  enum Fault: Hashable, Sendable, CustomStringConvertible {
    case death
    /// Another number loses other writes.
    case powerLoss(Int)
    case error(Int32, isLasting: Bool)

    var description: String {
      switch self {
      case .death: "death"
      case .powerLoss(let draw): "power loss \(draw)"
      case .error(let code, let isLasting): "\(isLasting ? "lasting " : "")error \(code)"
      }
    }
  }

  /// What files hold and users know. Equal states go on in the same way, unless a process lives on with something else in mind.
  private struct State: Hashable {
    let file: String
    /// The files of the other machines, where they are not as at the start.
    let others: [String?]
    let ledger: Ledger
  }

  /// How many calls met a fault.
  private(set) var runs = 0
  let faults = Faults()
  private let script: Script
  private let world: MortalWorld
  private let steps: [Script.Step]
  private let start: Moment
  /// A run without a fault: its disk has counted the victim's calls.
  private let counts: (disk: MemoryDisk, process: String)
  private var seen: Set<State> = []
  /// What a device's memory is to be, by what its file holds.
  private var memories: [String: Memory] = [:]
  /// At every how manyth error all go on with the process that has met it.
  private let thoroughness: Int

  init(_ script: Script, thoroughness: Int = 1) throws {
    self.script = script
    self.thoroughness = thoroughness
    world = try Recording.of(script).start.wakened(script, seed: 4)
    steps = try script.steps(world)
    world.killAll()
    start = Moment(image: FileImage(of: world.disk), ledger: world.ledger)
    world.rewind(to: start, seed: 6, diskSeed: 0)
    counts = (world.disk, world.label(script.victim.program))
    for step in steps { try step() }
  }

  /// Interrupts at each call, or at every so manyth one from a first one on.
  func run(_ fault: Fault, from first: Int = 1, every stride: Int = 1) throws {
    for number in Swift.stride(from: first, through: calls(for: fault), by: stride) { try interrupt(fault, at: number) }
  }

  /// Whether it finds something wrong at one of the calls.
  func finds(_ fault: Fault) throws -> Bool {
    for number in 1...max(1, calls(for: fault)) where faults.list.isEmpty { try interrupt(fault, at: number) }
    return !faults.list.isEmpty
  }

  /// How many calls the whole script makes that may meet a fault.
  func calls(for fault: Fault) -> Int { counts.disk.calls(of: counts.process, counting: kinds(of: fault)) }

  private func interrupt(_ fault: Fault, at number: Int) throws {
    let place = "\(fault) at \(number)"
    let draw = if case .powerLoss(let draw) = fault { draw } else { 0 }
    world.rewind(to: start, seed: 6, diskSeed: UInt64(1_000 * draw + number))
    let victim = world.label(script.victim.program)
    plan(fault, for: victim, at: number)
    let result = Result { for step in steps { try step() } }
    guard let call = world.disk.faultMet(by: victim) else { return faults.add("\(place): not met") }
    runs += 1
    world.disk.clearPlan(for: victim)
    let name = "\(place), a \(call)"
    switch fault {
    case .death, .powerLoss: world.buryDead()
    case .error: try checkLiving(result, name)
    }
    try checkState(fault, name)
  }

  /// A death or a power loss comes at a call that changes something: what is between two of these is equal to them.
  private func kinds(of fault: Fault) -> MemoryDisk.CallKinds {
    if case .error(let code, _) = fault { .plausible(for: code) } else { .changes }
  }

  private func plan(_ fault: Fault, for process: String, at number: Int) {
    let planned: MemoryDisk.DiskFault =
      switch fault {
      case .death: .death
      case .powerLoss: .powerLoss
      case .error(let code, let isLasting): .error(code, isLasting: isLasting)
      }
    world.disk.plan(planned, for: process, atCall: number, counting: kinds(of: fault))
  }

  /// An error of the disk is told as one, never as damage; and memory is what the file says.
  private func checkLiving(_ result: Result<Void, any Error>, _ name: String) throws {
    guard case .device(let device) = script.victim else { return }
    if case .failure(let error) = result {
      let told = error as? SQLiteError
      faults.expect(told?.isDamage == false, "\(name): the caller got \(error)")
    }
    let memory = try Memory(world.store(device))
    let dump = try world.dump(script.file)
    let fresh = try memories[dump] ?? Memory(beside: device, in: world)
    memories[dump] = fresh
    faults.expect(memory == fresh, "\(name): memory drifts")
  }

  private func checkState(_ fault: Fault, _ name: String) throws {
    try world.withConnection(of: script.victim) { _ in }  // whoever opens the file next
    let integrity = try world.observer(script.file).query("PRAGMA integrity_check") { $0.text(0) }
    faults.expect(integrity == ["ok"], "\(name): integrity: \(integrity)")
    let image = FileImage(of: world.disk)
    let others = try MortalWorld.machines.filter { $0 != script.victim.machine }.map { machine -> String? in
      let file = machine + ".db"
      return image.only(file) == start.image.only(file) ? nil : try world.dump(file)
    }
    let state = State(file: try world.dump(script.file), others: others, ledger: world.ledger)
    let isLiving = if case .error = fault { true } else { false }
    guard seen.insert(state).inserted || isLiving && runs % thoroughness == 0 else { return }
    faults.add(try WorldAudit.faults(world), of: name)
    faults.add(world.goOn(isCopied: script.isCopied), of: name)
    // Whatever a failed sync has left behind, what came later is on the disk.
    for machine in MortalWorld.machines { world.disk.cutPower(of: machine) }
    world.buryDead()
    faults.add(try WorldAudit.faultsAtRest(world), of: "\(name), and a power loss at the end")
  }
}
