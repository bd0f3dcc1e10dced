// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting

/// Watches a world's server and devices after every transaction, and says what is not as it must be.
///
/// It keeps a copy of each account's scope at each position at which a sequencer run ended. A device that says that it is at a
/// consistent point must hold the copy of that point; until the next one it may only lose what was taken from its account. Its
/// screen must be its confirmed rows with its own pending operations folded over them, each exactly once.
final class Checker {
  private let world: World
  private let reader: LineReader
  private(set) var ledger = Ledger()

  /// What was true when the log ended at a position.
  private struct Point {
    var rows: Lines = [:]
    /// The mutations whose receipts the log holds.
    var judged: Set<MutationID> = []
  }

  private struct Watch {
    var base: Lines = [:]
    /// The capture number of the newest version seen of each row.
    var newest: [Name: Int64] = [:]
    var changes: Int64 = -1
  }

  private var points: [Int64: Point] = [:]
  private var seen: [Int64] = []
  private var order: [Name: [[UInt8]: Int64]] = [:]
  private var watches: [String: Watch] = [:]
  /// Counts how often a device was looked at.
  private(set) var checks = 0

  init(_ world: World) {
    self.world = world
    reader = LineReader(world.catalog)
  }

  /// Begins a new history, with all devices at rest.
  func reset() throws {
    (ledger, points, order, watches, seen) = (Ledger(), [:], [:], [:], [])
    try served()
    for (name, device) in world.devices {
      watches[name] = Watch(base: try reader.device(device.store).base)
      try look(name, nil)
    }
  }

  /// A device has made a mutation.
  func wrote(_ id: MutationID, on name: String) throws {
    guard let store = world.devices[name]?.store, let entry = try store.outbox().first(where: { $0.id == id }) else {
      throw WorldError("\(name) wrote \(id), and it is not in its outbox")
    }
    ledger.note(id, on: name, entry.operations)
    try look(name, nil)
  }

  func withdrew(_ id: MutationID, on name: String) throws {
    ledger.withdraw(id)
    try look(name, nil)
  }

  // MARK: The server

  /// Looks at the server after a request, if anything was written since it did so last.
  func served() throws {
    let version = [try world.foreign.dataVersion(), try totalChanges(world.foreign)]
    if version == seen { return }
    seen = version
    let rows = try reader.server(world.foreign)
    for (name, row) in rows {
      order[name, default: [:]][row.line.tag] = row.order
      try countOnce(name, row.line, "on the server")
    }
    let head = try world.server.history().head
    if points[head] == nil {
      let judged = try world.foreign.query("SELECT mid FROM skerry_homes WHERE pos > 0") {
        MutationID(bytes: $0.blob(0))
      }
      points[head] = Point(rows: rows.mapValues(\.line), judged: Set(judged.compactMap { $0 }))
    }
  }

  private func totalChanges(_ connection: SQLiteConnection) throws -> Int64 {
    try connection.first("SELECT total_changes()") { $0.integer(0) } ?? 0
  }

  private func countOnce(_ name: Name, _ line: Line, _ place: String) throws {
    if let digit = Digits.repeated(in: reader.count(name, line)) {
      throw WorldError("increment \(digit) is more than once in \(name) \(place)")
    }
  }

  // MARK: The devices

  /// Looks at a device after a transaction; `effect` is what a page or reset did.
  func look(_ name: String, _ effect: PageEffect?) throws {
    guard let device = world.devices[name] else { return }
    let store = device.store
    for id in effect?.settled ?? [] { ledger.settle(id, try outcome(of: id, device.user)) }
    let changes = try store.withConnection(totalChanges)
    if effect?.isConsistent != true, changes == watches[name]?.changes { return }
    checks += 1
    let (screen, base) = try reader.device(store)
    var watch = watches[name] ?? Watch()
    watch.changes = changes
    try checkBase(base, device, effect, &watch)
    try checkOutbox(device)
    let expected = ledger.fold(base, on: name, reader)
    try Agreement.compare(screen, expected, "screen of \(name)")
    try checkScreen(screen, device)
    watches[name] = watch
  }

  private func outcome(of id: MutationID, _ user: AccountID) throws -> Outcome {
    let found = try world.foreign.first(
      "SELECT outcome FROM skerry_receipts WHERE user = ? AND mid = ?", .text(user.text), .blob(id.raw.bytes)
    ) { Outcome(rawValue: $0.text(0)) }
    guard let outcome = found ?? nil else { throw WorldError("\(id) is settled, and the server has no receipt") }
    return outcome
  }

  private func checkBase(_ base: Lines, _ device: WorldDevice, _ effect: PageEffect?, _ watch: inout Watch) throws {
    if effect?.isConsistent == true {
      let position = device.store.cursor?.position ?? -1
      guard let point = points[position] else {
        throw WorldError("\(device.name) is at \(position), which no run ended at")
      }
      let scope = Scope(user: device.user).rows(point.rows, reader)
      try Agreement.compare(base, scope, "confirmed rows of \(device.name) at \(position)")
      if let twice = ledger.pending(on: device.name).first(where: point.judged.contains) {
        throw WorldError("\(device.name) shows \(twice) as pending, and the rows have it already")
      }
    } else {
      for (key, line) in base where watch.base[key] != line {
        throw WorldError("\(device.name) shows \(key) before its consistent point: \(line)")
      }
      // What a page says is true of the run at which it was read.
      let gone = watch.base.keys.filter { base[$0] == nil }
      let point = gone.isEmpty || effect?.lost.isEmpty == false ? nil : points[device.store.cursor?.head ?? -1]
      let scope = point.map { Scope(user: device.user).rows($0.rows, reader) } ?? [:]
      if let name = gone.first(where: { scope[$0] != nil }) {
        throw WorldError("\(name) vanished from \(device.name), which may see it")
      }
    }
    for (key, line) in base {
      guard let order = order[key]?[line.tag] else {
        throw WorldError("\(key) on \(device.name) is no version: \(line)")
      }
      if order < watch.newest[key] ?? 0 { throw WorldError("\(device.name) went back to an older \(key): \(line)") }
      watch.newest[key] = order
    }
    watch.base = base
  }

  private func checkOutbox(_ device: WorldDevice) throws {
    let found = try device.store.outbox().map(\.id)
    let expected = ledger.pending(on: device.name)
    if found != expected { throw WorldError("outbox of \(device.name):\n  expected \(expected)\n  found    \(found)") }
  }

  /// Each increment of the device's own is in the number exactly once, from the write on, and no other more than once.
  private func checkScreen(_ screen: Lines, _ device: WorldDevice) throws {
    for (name, line) in screen { try countOnce(name, line, "on \(device.name)") }
    for deed in ledger.effective(on: device.name) {
      guard case .add(let amount) = deed.kind, let line = screen[deed.name], line.incarnation == deed.incarnation
      else { continue }
      if Digits.times(amount, in: reader.count(deed.name, line)) != 1 {
        throw WorldError("\(device.name) does not show its own increment of \(deed.name): \(line)")
      }
    }
  }

  // MARK: The end

  /// Every mutation has its receipt, and a confirmed increment is in its row exactly once.
  func checkEnd() throws {
    let rows = try reader.server(world.foreign).mapValues(\.line)
    for (id, record) in ledger.records {
      guard let user = world.devices[record.device]?.user else { continue }
      let outcome = try outcome(of: id, user)
      if record.fate != .settled(outcome) { throw WorldError("\(id) is \(outcome), and its device has \(record.fate)") }
      for deed in record.deeds {
        guard case .add(let amount) = deed.kind, let row = rows[deed.name], row.incarnation == deed.incarnation
        else { continue }
        let count = Digits.times(amount, in: reader.count(deed.name, row))
        if count != (outcome == .confirmed ? 1 : 0) {
          throw WorldError("\(id) is \(outcome), and is \(count) times in \(deed.name)")
        }
      }
    }
  }
}
