// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import SkerrySQLiteKit
import SkerryTestSupport

/// Another program with the server's file open, whose transactions a scheduler cuts into steps: begin, one statement at a
/// time, commit or roll back.
final class ForeignWriter {
  enum Outcome {
    /// Another connection holds the lock; nothing has happened.
    case busy
    /// A step was made, the lock is held.
    case working
    case committed(token: Int, changes: [(row: Int, content: Content?)])
    case rolledBack
  }

  private let connection: SQLiteConnection
  private var token = 0
  private var changes: [(row: Int, content: Content?)] = []
  private var done = 0
  private(set) var isOpen = false

  init(path: String) throws { connection = try SQLiteConnection(path: path, mode: .writer, busyTimeout: 0) }

  /// Begins a transaction, if nobody else has the lock.
  func begin(_ token: Int, _ rows: [Content?], _ random: inout SeededGenerator) throws -> Outcome {
    do { try connection.execute("BEGIN IMMEDIATE") } catch  where error.isBusy { return .busy }
    self.token = token
    // Nobody else can commit from now on, so what was committed last is what this transaction sees.
    changes = ForeignWriter.plan(token, rows, &random)
    done = 0
    isOpen = true
    return .working
  }

  /// The next statement, or the end.
  func step(_ rows: [Content?], _ random: inout SeededGenerator) throws -> Outcome {
    if done < changes.count {
      let change = changes[done]
      try write(change.row, from: rows[change.row], to: change.content)
      done += 1
      return .working
    }
    isOpen = false
    if random.chance(0.08) {
      try connection.execute("ROLLBACK")
      return .rolledBack
    }
    try connection.execute("COMMIT")
    return .committed(token: token, changes: changes)
  }

  /// Gives up what is open, as a program that dies does.
  func abandon() throws {
    if isOpen { try connection.execute("ROLLBACK") }
    isOpen = false
  }

  /// Two to four rows, all with one token: new, changed, moved or gone.
  private static func plan(
    _ token: Int, _ rows: [Content?], _ random: inout SeededGenerator
  ) -> [(row: Int, content: Content?)] {
    var out: [(row: Int, content: Content?)] = []
    let count = Int.random(in: 2...4, using: &random)
    while out.count < count {
      let row =
        random.chance(0.05) ? Place.members.randomElement(using: &random) ?? 0 : Int.random(in: 0..<34, using: &random)
      if out.contains(where: { $0.row == row }) { continue }
      out.append((row, content(row, rows[row], token, &random)))
    }
    return out
  }

  private static func content(
    _ row: Int, _ old: Content?, _ token: Int, _ random: inout SeededGenerator
  ) -> Content? {
    if Place.members.contains(row) {
      if old != nil, random.chance(0.6) { return nil }
      // Two rows may give one membership.
      let number = row - Place.members.lowerBound
      return Content(token: token, home: SpaceBits.teams[number % 2], user: number / 2 % 2)
    }
    if old != nil, random.chance(0.1) { return nil }
    var new = old ?? Content(token: token)
    new.token = token
    guard old == nil || random.chance(0.25) else { return new }
    switch Place.table(row) {
    case .item:
      new.home = random.chance(0.05) ? [] : random.pick(SpaceBits.single) ?? .ana
      new.also = random.chance(0.2) ? random.pick(SpaceBits.single) ?? [] : []
    case .note: new.parent = random.pick(Place.items) ?? 0
    case .part: new.parent = random.pick(Place.notes) ?? 0
    case .member: break
    }
    return new
  }

  private func write(_ row: Int, from old: Content?, to new: Content?) throws {
    let table = Place.table(row)
    let id = SQLiteValue.integer(Int64(row))
    guard let new else {
      try connection.run("DELETE FROM \(table.rawValue) WHERE id = ?", id)
      return
    }
    let token = SQLiteValue.integer(Int64(new.token))
    let isNew = old == nil
    switch table {
    case .item:
      try connection.run(
        isNew
          ? "INSERT INTO item(home, also, token, id) VALUES (?, ?, ?, ?)"
          : "UPDATE item SET home = ?, also = ?, token = ? WHERE id = ?", new.home.value, new.also.value, token, id)
    case .note, .part:
      let column = table == .note ? "item" : "note"
      try connection.run(
        isNew
          ? "INSERT INTO \(table.rawValue)(\(column), token, id) VALUES (?, ?, ?)"
          : "UPDATE \(table.rawValue) SET \(column) = ?, token = ? WHERE id = ?", .integer(Int64(new.parent)), token, id
      )
    case .member:
      try connection.run(
        isNew
          ? "INSERT INTO member(team, account, token, id) VALUES (?, ?, ?, ?)"
          : "UPDATE member SET team = ?, account = ?, token = ? WHERE id = ?", .text(new.home.team),
        .text(Place.users[new.user].text), token, id)
    }
  }
}
