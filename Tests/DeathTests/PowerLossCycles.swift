// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting

/// A device and a server at work, whose machines lose power over and over again, at any call. A seed decides all of it.
struct PowerLossCycles {
  /// What came of it.
  struct Figures: Hashable {
    var cycles = 0
    /// Writes that returned.
    var acknowledged = 0
    /// Of these, how many were nowhere after a power loss.
    var lost = 0
    /// Power losses after which a file was not whole.
    var torn = 0
    /// Whatever else was wrong.
    var faults: [String] = []
    /// Changes of files that the disk dropped or tore.
    var droppedWrites = 0
    var tornWrites = 0
    /// What was done.
    var pushes = 0
    var pages = 0
    var foreignWrites = 0
  }

  private(set) var figures = Figures()
  private let draws: VirtualAmbient
  /// What the device's connection is set to; nil: as the store sets it.
  private let synchronous: String?
  private let base: Moment
  private let world: MortalWorld
  private var bit = 0
  private var lives: UInt64 = 0

  /// After so many writes come other files: the outbox stays short, and a ledger has 62 bits.
  private static let bits = 40
  /// After so many power losses all files are held against each other.
  private static let whole = 10

  init(seed: UInt64, synchronous: String? = nil) throws {
    draws = VirtualAmbient(seed: seed)
    self.synchronous = synchronous
    base = try Recording.base.get()
    world = try MortalWorld(base.image.restored())
    begin()
  }

  private func below(_ bound: UInt64) -> UInt64 { draws.random() % bound }

  /// Files in which nothing has happened yet, on a new disk.
  private mutating func begin() {
    lives += 1
    world.rewind(to: base, seed: draws.random(), diskSeed: draws.random())
    bit = 0
    disk = (0, 0)
  }

  mutating func run(_ cycles: Int) -> Figures {
    for _ in 0..<cycles {
      do { try cycle() } catch {
        // A file that is broken for good; the next cycle has another.
        figures.torn += 1
        figures.faults.append("cycle \(figures.cycles): \(error)")
        begin()
      }
      figures.cycles += 1
    }
    return figures
  }

  /// Work until a machine loses power, then a look at all that is left.
  private mutating func cycle() throws {
    let victim: MortalWorld.Victim = below(10) == 0 ? .server : .device("ana")
    if let synchronous {
      try world.store("ana").withConnection { try $0.execute("PRAGMA synchronous = \(synchronous)") }
    }
    let process = world.label(victim.program)
    let kinds: MemoryDisk.CallKinds = below(3) == 0 ? .anyCall : .changes
    world.disk.plan(.powerLoss, for: process, atCall: 1 + Int(below(45)), counting: kinds)
    var isCut = false
    while !isCut, bit < PowerLossCycles.bits {
      let result = Result { try act() }
      isCut = world.disk.isDead(process)
      if !isCut { try result.get() }
    }
    world.disk.clearPlan(for: process)
    world.buryDead()
    noteDisk()
    note(figures.cycles % PowerLossCycles.whole == 0 ? try WorldAudit.faults(world) : try quickFaults(victim))
    if bit >= PowerLossCycles.bits {
      note(world.goOn(isCopied: false))
      begin()
    }
  }

  /// What is wrong with the file that may have suffered, and which promises are broken.
  private func quickFaults(_ victim: MortalWorld.Victim) throws -> [String] {
    let faults = try world.withConnection(of: victim) { connection in
      if case .device = victim { return try StoreAudit.faults(connection, world.catalog, world.ledger) }
      return try ServerAudit.faults(connection, world.catalog)
    }
    var known: Set<MutationID> = []
    func read(_ tables: [String], _ connection: SQLiteConnection) throws {
      for table in tables {
        known.formUnion(
          try connection.query("SELECT mid FROM \(table)") { MutationID(bytes: $0.blob(0)) }.compactMap { $0 })
      }
    }
    try world.withConnection(of: .device("ana")) { try read(["skerry_outbox", "skerry_archive", "skerry_inbox"], $0) }
    try world.withConnection(of: .server) { try read(["skerry_receipts"], $0) }
    return faults
      + world.ledger.acknowledged.filter { !known.contains($0.key) }.map {
        "the acknowledged write \($0.value) is nowhere"
      }
  }

  /// Something that a user, an engine or another program does.
  private mutating func act() throws {
    switch below(20) {
    case 0..<9:
      bit += bit + 1 == MortalWorld.next ? 2 : 1
      let text = Value.text("text of \(bit)")
      try world.write("ana", bit) { try $0.update(.item("i2"), ["a": text]) }
      figures.acknowledged += 1
    case 9..<13:
      try world.store("ana").take(try world.push("ana"))
      figures.pushes += 1
    case 13..<17:
      try world.take(world.ask("ana", limit: 3), "ana")
      figures.pages += 1
    case 17: try world.round("ana")
    default:
      let number = below(1_000)
      try world.commitForeign(
        "UPDATE item SET b = '\(number)' WHERE id IN ('i1', 'i2')",
        "INSERT OR IGNORE INTO item(id, home) VALUES ('f\(number % 20)', 'team:t1')",
        "DELETE FROM item WHERE id = 'f\((number + 7) % 20)'")
      figures.foreignWrites += 1
    }
  }

  private mutating func noteDisk() {
    let found = world.disk.figures
    figures.droppedWrites += found.droppedWrites - disk.dropped
    figures.tornWrites += found.tornWrites - disk.torn
    disk = (found.droppedWrites, found.tornWrites)
  }

  private var disk = (dropped: 0, torn: 0)

  private mutating func note(_ faults: [String]) {
    for fault in faults {
      if fault.hasSuffix("is nowhere") || fault.hasSuffix("never got its outcome") { figures.lost += 1 }
      if fault.contains("integrity") || fault.contains("half") { figures.torn += 1 }
      figures.faults.append("life \(lives), cycle \(figures.cycles): \(fault)")
    }
    if !faults.isEmpty { begin() }
  }
}
