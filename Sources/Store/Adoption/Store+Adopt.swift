// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
package import SkerryModel
import SkerrySQLiteKit

extension Store {
  /// Whether an adoption of this name has come to its end on this file.
  package func hasAdopted(_ name: String) throws -> Bool {
    try connection.first("SELECT 1 FROM skerry_done WHERE name = ?", .text(Store.mark(name))) { _ in true } ?? false
  }

  /// Notes that all rows were given, and forgets which.
  package func endAdoption(_ name: String) throws {
    try transaction {
      try connection.run("INSERT OR IGNORE INTO skerry_done(name) VALUES (?)", .text(Store.mark(name)))
      try connection.run("DELETE FROM skerry_adopted WHERE name = ?", .text(name))
    }
  }

  /// Beside the names of writes that are made once.
  private static func mark(_ name: String) -> String { "skerry adopt \(name)" }

  /// Takes some rows in, as one transaction: with each is noted that it was, so that a row which was deleted since is not
  /// brought back by a call that goes on after a death.
  ///
  /// - Parameters:
  ///   - rows: inserts in their normal form, all of one table.
  ///   - first: the place of the first among all that are given, from 1.
  /// - Throws: `AdoptionError`, and then none of them was taken.
  package func adopt(
    _ rows: [Operation], of table: TableInfo, from first: Int, as mode: AdoptionMode, name: String
  ) throws -> Adoption {
    try transaction {
      var batch = try AdoptionBatch(self, table, name)
      let new = try batch.sort(rows, from: first)
      switch mode {
      case .unsent: try batch.insert(new)
      case .alreadyOnServer: try batch.guess(new)
      }
      return batch.result
    }
  }
}

extension Catalog {
  /// - Throws: `StoreError` with code `invalid` if rows of this table cannot be adopted in this way.
  package func check(_ mode: AdoptionMode, of table: TableInfo) throws {
    switch mode {
    case .alreadyOnServer where table.isLocal:
      throw StoreError(
        .invalid, "\(table.name) is on the device only, so its rows are on no server; adopt them as unsent")
    case .unsent(let batch) where batch < 1:
      throw StoreError(.invalid, "a batch has at least one row, \(batch) found")
    case .alreadyOnServer, .unsent: break
    }
  }
}

/// One transaction's share of an adoption.
private struct AdoptionBatch {
  typealias Row = (place: Int, insert: Operation)
  private let store: Store
  private let table: TableInfo
  private let name: String
  private(set) var result = Adoption()

  init(_ store: Store, _ table: TableInfo, _ name: String) throws {
    self.store = store
    self.table = table
    self.name = name
  }

  /// Counts what needs no work, and gives what is new here.
  mutating func sort(_ rows: [Operation], from first: Int) throws -> [Row] {
    var new: [Row] = []
    var places: [RowKey: Int] = [:]
    for (index, insert) in rows.enumerated() {
      let key = insert.key
      if let place = places[key] {
        // Twice among those given: the first one counts.
        if new[place].insert == insert { result.unchanged += 1 } else { result.differing += 1 }
      } else if try wasGiven(key) {
        result.resumed += 1
      } else if let values = try visible(key) {
        if isSame(values, insert) { result.unchanged += 1 } else { result.differing += 1 }
        try note(key)
      } else if try Subjects.touches(key, on: store.connection) {
        // Deleted here, and the server has not said so yet.
        result.differing += 1
        try note(key)
      } else {
        places[key] = new.count
        new.append((first + index, insert))
        try note(key)
      }
    }
    return new
  }

  private func wasGiven(_ key: RowKey) throws -> Bool {
    try store.connection.first(
      "SELECT 1 FROM skerry_adopted WHERE name = ? AND tbl = ? AND key = ?", .text(name), .text(key.table),
      .blob(key.bytes)
    ) { _ in true } ?? false
  }

  private func note(_ key: RowKey) throws {
    try store.connection.run(
      "INSERT INTO skerry_adopted(name, tbl, key) VALUES (?, ?, ?)", .text(name), .text(key.table), .blob(key.bytes))
  }

  private func visible(_ key: RowKey) throws -> [Value]? {
    if table.isLocal { return try LocalRows.values(key, table, store.connection) }
    return try VisibleRows.state(key, table, store.connection)?.values
  }

  /// The row as the insert makes it.
  private func values(_ insert: Operation) -> [Value] {
    let anyone = MutationID(raw: Bytes16(high: 0, low: 0))
    guard case .becomes(let row?) = Merge.apply(insert, at: 0, of: anyone, to: nil, in: table) else { return [] }
    return row.values
  }

  /// Only the server gives late-bound values, so they say nothing of the user's.
  private func isSame(_ values: [Value], _ insert: Operation) -> Bool {
    zip(table.columns, zip(values, self.values(insert))).allSatisfy { $0.rule == .lateBound || $1.0 == $1.1 }
  }

  // MARK: Already on the server

  mutating func guess(_ rows: [Row]) throws {
    if store.state.syncedAt != nil {
      result.late += rows.count
      return
    }
    for (_, insert) in rows {
      try VisibleRows.write(
        insert.key, table, Guesses.state(values(insert), insert.key), hidden: Guesses.hidden, replacing: false,
        store.connection)
      try Guesses.add(insert.key, store.connection)
      result.added += 1
    }
  }

  // MARK: Not on the server

  mutating func insert(_ rows: [Row]) throws {
    var rest = rows[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.fitting(rest))
      rest = rest.dropFirst(part.count)
      var write = try WriteTransaction(store, id: store.ambient.makeMutationID())
      for row in part {
        do {
          try checkParents(of: row.insert)
          try write.insert(row.insert, into: table)
        } catch let error as StoreError { throw AdoptionError(row: row.place, error) }
      }
      let draft = try write.finish()
      if !draft.operations.isEmpty {
        try store.enqueue(draft, Operation.encode(draft.operations), label: "adopt \(table.name)")
      }
      result.added += part.count
    }
  }

  /// How many of the rows fit into one mutation, at least one: a row alone always does.
  private static func fitting(_ rows: ArraySlice<Row>) -> Int {
    var (count, bytes, inMessage) = (0, 0, 0)
    for row in rows {
      bytes += Operation.encode([row.insert]).count
      inMessage += row.insert.messageBytes
      let isFull =
        count == Limits.operations || bytes > Limits.mutationBytes || inMessage > Limits.mutationMessageBytes
      if isFull, count > 0 { break }
      count += 1
    }
    return count
  }

  /// The server would refuse the whole mutation of a row whose parent it does not have.
  private func checkParents(of insert: Operation) throws {
    let values = values(insert)
    for (index, column) in table.columns.enumerated() {
      guard let parent = parent(by: index), !values[index].isNull else { continue }
      guard let info = store.catalog.table(parent) else { continue }
      if try VisibleRows.state(RowKey(parent, values[index]), info, store.connection) != nil { continue }
      let order =
        parent == table.name
        ? "give the rows that others refer to first" : "adopt \(parent) before \(table.name)"
      throw StoreError(
        .constraint, "\(table.name).\(column.name) refers to a row of \(parent) that is not here; \(order)")
    }
  }

  private func parent(by index: Int) -> String? {
    if let reference = table.columns[index].reference { return reference.table }
    for case .parent(let name, let parent) in table.spaces where table.index(of: name) == index { return parent }
    return nil
  }
}
