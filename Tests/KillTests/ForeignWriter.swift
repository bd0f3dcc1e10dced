// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerrySQLiteKit
import SkerryWire

/// Another program with the server's file open: short transactions in plain SQL, whether or not the server lives.
///
/// It never checkpoints: two that do are what `docs/gotchas.md` warns of. And it never dies, so each of its transactions is
/// known to have happened or not.
actor ForeignWriter {
  private nonisolated let executor = SerialQueueExecutor(label: "skerry.foreign")
  private let connection: SQLiteConnection
  private let ledger: Ledger
  private let progress: Progress
  private var random: SeededGenerator
  private var own: [Int] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ path: String, _ ledger: Ledger, _ progress: Progress, seed: UInt64) throws {
    connection = try SQLiteConnection(path: path, mode: .writer, busyTimeout: 100)
    try connection.execute("PRAGMA wal_autocheckpoint = 0")
    self.ledger = ledger
    self.progress = progress
    random = SeededGenerator(seed: seed)
  }

  /// One transaction for some orders of the devices, until the load is over.
  func run(until isOver: @Sendable () -> Bool) async throws {
    while !isOver(), !Task.isCancelled {
      await progress.reach(progress.count + Int.random(in: 4...12, using: &random))
      if isOver() { return }
      try await write()
    }
  }

  private func write() async throws {
    let number = ledger.nextNumber()
    var steps = Writer.count(Int.random(in: Rows.counters.indices, using: &random), 1, "\(number)")
    if let index = own.indices.randomElement(using: &random), random.chance(0.3) {
      steps += Writer.delete(own.remove(at: index))
    } else {
      steps += Writer.insert(number, by: Order.sql)
    }
    let order = Order(writer: Order.sql, number: number, steps: steps)
    try await ledger.intend(order)
    do {
      try connection.transaction(.immediate) { for step in steps { try run(step) } }
    } catch let error as SQLiteError where error.isBusy {
      // The server is stopped in the middle of a transaction of its own, most often.
      try await ledger.refuse(order, "busy")
      return
    }
    try await ledger.acknowledge(order, mutation: nil)
    if steps.count == 5, case .insert = steps[2] { own.append(number) }
  }

  private func run(_ step: Step) throws {
    let id = SQLiteValue.text(step.row.id)
    switch step {
    case .insert(let row, let values):
      var columns = values.sorted { $0.key < $1.key }.map { ($0.key, ForeignWriter.value($0.value)) }
      if row.table == "people" { columns.append(("visits", 0)) }
      let names = columns.map { ", \($0.0)" }.joined()
      let places = columns.map { _ in ", ?" }.joined()
      try connection.statement("INSERT INTO \(row.table)(id\(names)) VALUES (?\(places))")
        .run([id] + columns.map(\.1))
    case .update(let row, let values):
      let columns = values.sorted { $0.key < $1.key }
      let changes = columns.map { "\($0.key) = ?" }.joined(separator: ", ")
      try connection.statement("UPDATE \(row.table) SET \(changes) WHERE id = ?")
        .run(columns.map { ForeignWriter.value($0.value) } + [id])
    case .increment(let row, let column, let amount):
      try connection.run(
        "UPDATE \(row.table) SET \(column) = \(column) + ? WHERE id = ?", .integer(amount), id)
    case .delete(let row): try connection.run("DELETE FROM \(row.table) WHERE id = ?", id)
    }
  }

  private static func value(_ json: JSON) -> SQLiteValue {
    switch json {
    case .string(let text): .text(text)
    case .integer(let number): .integer(number)
    default: .null
    }
  }
}
