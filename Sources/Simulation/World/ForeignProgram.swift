// SPDX-License-Identifier: Apache-2.0

import SkerryDiskKit
import SkerryModel
import SkerrySQLiteKit
import SkerryTables

/// A program that writes the app's tables in the server's file and knows nothing of Skerry.
final class ForeignProgram {
  private unowned let world: SimulatedWorld
  private var connection: SQLiteConnection?
  private var life = 0
  /// What the open transaction has written, in order.
  private var writes: [(key: RowKey, values: [Value]?)] = []
  private(set) var isOpen = false

  init(_ world: SimulatedWorld) { self.world = world }

  /// The rows as this program sees them: committed, and its own.
  private var seen: [RowKey: [Value]] {
    var rows = world.model.rows.mapValues(\.values)
    for write in writes { rows[write.key] = write.values }
    return rows
  }

  /// The rows as they would be for an author who composes for this program.
  var rows: [RowKey: Row] {
    var out = world.model.rows.mapValues { Row($0) }
    for write in writes {
      let tag = VersionTag(raw: Bytes16(high: 0, low: 0))
      out[write.key] = write.values.map { Row(values: $0, tag: tag, incarnation: Incarnation(tag: tag, index: 0)) }
    }
    return out
  }

  /// Changes a row and tells nobody.
  func writeSecretly() throws {
    guard !isOpen, let connection = try file(), let key = world.model.rows.keys.sorted().first else { return }
    let tables = world.model.rules.tables[key.table]?.definition
    guard let counter = tables?.columns.first(where: { $0.rule == .counter })?.name else { return }
    try connection.execute("UPDATE \"\(key.table)\" SET \"\(counter)\" = \"\(counter)\" + 1")
  }

  /// One transaction.
  func write(_ deeds: [Deed]) throws {
    try open()
    try add(deeds)
    try end(isCommit: true)
  }

  /// Begins a transaction that stays open, which no other writer can pass.
  func begin(_ deeds: [Deed]) throws {
    try open()
    try add(deeds)
  }

  func add(_ deeds: [Deed]) throws {
    noticeDeath()
    guard isOpen, let connection = try file() else { return }
    var rows = seen
    for deed in deeds {
      guard (rows[deed.key] != nil) != isInsert(deed) else { continue }
      let values = world.model.rules.values(after: deed, on: rows[deed.key])
      if let values, isOverflow(deed, rows[deed.key]) || values.isEmpty { continue }
      try run(deed, values, connection)
      rows[deed.key] = values
      writes.append((deed.key, values))
      world.remember(deed, by: nil)
    }
  }

  private func isInsert(_ deed: Deed) -> Bool { if case .insert = deed { true } else { false } }

  private func isOverflow(_ deed: Deed, _ old: [Value]?) -> Bool {
    guard case .increment(let key, let name, let amount) = deed,
      let index = world.model.rules.tables[key.table]?.column(name), let number = old?[index].integer
    else { return false }
    return number.addingReportingOverflow(amount).overflow
  }

  private func run(_ deed: Deed, _ values: [Value]?, _ connection: SQLiteConnection) throws {
    guard let full = world.model.rules.tables[deed.key.table]?.definition else { return }
    let lens = try world.reader.serverVersion(connection)
    guard let table = lens.catalog.table(full.name)?.definition else { return }
    let condition = table.key.map { "\"\($0)\" = ?" }.joined(separator: " AND ")
    let key = deed.key.values.map(\.sqlite)
    switch deed {
    case .insert:
      let names = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
      let marks = table.columns.map { _ in "?" }.joined(separator: ", ")
      try connection.statement("INSERT INTO \"\(table.name)\"(\(names)) VALUES (\(marks))")
        .run(lens.own(table.name, values ?? []).map(\.sqlite))
    case .update(_, let given):
      let names = given.keys.sorted()
      let sets = names.map { "\"\($0)\" = ?" }.joined(separator: ", ")
      try connection.statement("UPDATE \"\(table.name)\" SET \(sets) WHERE \(condition)")
        .run(names.map { (given[$0] ?? .null).sqlite } + key)
    case .increment(_, let name, let amount):
      try connection.statement("UPDATE \"\(table.name)\" SET \"\(name)\" = \"\(name)\" + ? WHERE \(condition)")
        .run([.integer(amount)] + key)
    case .delete: try connection.statement("DELETE FROM \"\(table.name)\" WHERE \(condition)").run(key)
    }
  }

  func end(isCommit: Bool) throws {
    noticeDeath()
    guard isOpen, let connection = try file() else { return }
    isOpen = false
    let done = writes
    writes = []
    try connection.execute(isCommit ? "COMMIT" : "ROLLBACK")
    world.journal.say(world.now, "programs", .write, isCommit ? "commit of \(done.map(\.key))" : "rollback")
    if !isCommit { return }
    world.figures.foreignCommits += 1
    var last: [RowKey: (values: [Value]?, count: Int, isDeleted: Bool)] = [:]
    var order: [RowKey] = []
    for write in done {
      if last[write.key] == nil { order.append(write.key) }
      let before = last[write.key]
      let isDeleted = before?.isDeleted == true || write.values == nil
      last[write.key] = (write.values, (before?.count ?? 0) + 1, isDeleted)
    }
    var now: [RowKey: Row] = [:]
    for key in order { now[key] = try world.reader.row(key, connection) }
    let rows = now
    world.check {
      let writes = order.map { key in
        (key, last[key]?.values, last[key]?.count ?? 1, last[key]?.isDeleted ?? false)
      }
      try world.model.committed(writes, now: rows)
    }
  }

  private func open() throws {
    noticeDeath()
    guard !isOpen, let connection = try file() else { return }
    try connection.execute("BEGIN IMMEDIATE")
    isOpen = true
    writes = []
  }

  /// Nil while no server has the file open: this program is on the same machine, and begins after them.
  private func file() throws -> SQLiteConnection? {
    if let connection { return connection }
    guard world.servers.contains(where: \.isUp) else { return nil }
    life += 1
    let path = MemoryDisk.path(process: "foreign.\(life)", machine: "server", file: "server.db")
    let fresh = try SQLiteConnection(path: path, mode: .writer, busyTimeout: 0, vfs: world.disk.vfsName)
    // Of the connections on a machine, only the servers' checkpoint.
    try fresh.execute("PRAGMA wal_autocheckpoint = 0")
    connection = fresh
    return fresh
  }

  /// The machine may have lost power while a server was at work.
  private func noticeDeath() { if connection != nil, world.disk.isDead("foreign.\(life)") { stop() } }

  /// Its machine has lost power, or its file is taken away.
  func stop() {
    world.disk.kill(process: "foreign.\(life)")
    connection = nil
    isOpen = false
    writes = []
  }
}
