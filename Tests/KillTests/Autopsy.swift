// SPDX-License-Identifier: Apache-2.0

import SkerrySQLiteKit

/// What a file must show at any moment at which a process may die, without knowing what was written: nothing is there by half.
enum Autopsy {
  /// Each query names rows that cannot be.
  private static let impossible = [
    // A count of visits and its mark are one mutation.
    (
      "a counter that is not the sum of its marks",
      """
      SELECT id FROM people WHERE id LIKE 'C%' AND visits <>
        (SELECT coalesce(sum(CAST(suite AS INTEGER)), 0) FROM offices WHERE person = people.id AND id LIKE 'M%')
      """
    ),
    (
      "a person without its office, or with another state",
      """
      SELECT id FROM people WHERE id LIKE 'P%' AND NOT EXISTS
        (SELECT 1 FROM offices WHERE offices.id = 'O' || substr(people.id, 2) || 'a' AND hours IS people.role)
      """
    ),
    (
      "an office without its person",
      "SELECT id FROM offices WHERE person NOT IN (SELECT id FROM people)"
    ),
    (
      "an office without the other one",
      """
      SELECT id FROM offices AS one WHERE id LIKE 'O%' AND NOT EXISTS (SELECT 1 FROM offices AS other WHERE
        other.id = substr(one.id, 1, length(one.id) - 1) || CASE WHEN one.id LIKE '%a' THEN 'b' ELSE 'a' END)
      """
    ),
    ("a half change of a shared row", "SELECT id FROM people WHERE id LIKE 'X%' AND nickname IS NOT phone"),
  ]

  /// - Parameter isThorough: whether every index is compared with its table, too.
  static func faults(_ path: String, isThorough: Bool = false) throws -> [String] {
    let connection = try SQLiteConnection(path: path, mode: .reader)
    return try connection.transaction(.deferred) {
      var faults = try connection.query("PRAGMA \(isThorough ? "integrity_check" : "quick_check")") { $0.text(0) }
        .filter { $0 != "ok" }
      for (name, sql) in impossible {
        let rows = try connection.query(sql) { $0.text(0) }
        if !rows.isEmpty { faults.append("\(name): \(rows.prefix(10))") }
      }
      return faults
    }
  }

  /// Whether some process has a writing transaction open on a file.
  static func isLocked(_ path: String) throws -> Bool {
    do {
      let connection = try SQLiteConnection(path: path, mode: .writer, busyTimeout: 0)
      try connection.execute("BEGIN IMMEDIATE")
      try connection.execute("ROLLBACK")
      return false
    } catch let error as SQLiteError where error.isBusy {
      return true
    }
  }

  /// What a device was heard to promise and its file does not hold: each mutation is in one place, be it the outbox, the
  /// archive of what was confirmed or the inbox of what was refused.
  static func lost(_ file: DeviceContent, _ device: String, _ ledger: LedgerContent) -> [String] {
    var places: [String: [DeviceContent.Place]] = [:]
    for mutation in file.mutations { places[mutation.id, default: []].append(mutation.place) }
    return ledger.orders.compactMap { order in
      guard order.device == device, case .done(let id?)? = ledger.answers[order.number] else { return nil }
      let found = places[id] ?? []
      if found.count == 1 { return nil }
      return "\(order.label), mutation \(id), was acknowledged and is in \(found.count) places: \(found)"
    }
  }

  /// Rows and mutations that a device's file holds without the other, be the order acknowledged or not. Rows that somebody was
  /// told to end may be gone, and those that everybody changes tell nothing.
  static func torn(_ path: String, _ file: DeviceContent, _ device: String, _ ledger: LedgerContent) throws -> [String]
  {
    let connection = try SQLiteConnection(path: path, mode: .reader)
    let shown = Set(
      try connection.query("SELECT 'people/' || id FROM people UNION ALL SELECT 'offices/' || id FROM offices") {
        $0.text(0)
      })
    let held = Set(file.mutations.compactMap(\.label))
    let orders = ledger.orders.filter { $0.device == device && !$0.mayBeRefused }
    let steps = orders.flatMap(\.steps)
    let ended = Set(steps.compactMap { if case .delete(let row) = $0 { row } else { nil } })
    return orders.flatMap { order in
      let isHeld = held.contains(order.label)
      return order.steps.compactMap { step -> String? in
        guard case .insert(let row, _) = step, ["people", "offices"].contains(row.table) else { return nil }
        let isShown = shown.contains(row.description)
        if isShown == isHeld || !isShown && ended.contains(row) { return nil }
        return isShown ? "\(row) is shown without \(order.label)" : "\(row) of \(order.label) is not shown"
      }
    }
  }
}
