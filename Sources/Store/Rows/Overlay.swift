// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit

/// visible = fold(base, pending operations of that row): recomputed for touched rows only, in the applying transaction.
extension Store {
  /// Recomputes what the user sees of some rows from their bases and the outbox.
  func refold(_ keys: some Sequence<RowKey>, _ confirmed: ConfirmedRows) throws {
    // A large mutation is decoded once, whatever number of its rows is concerned.
    var decoded: [Int64: [RowKey: [(place: Int, operation: Operation)]]] = [:]
    for key in Set(keys).sorted() {
      guard let table = catalog.table(key.table), try confirmed.isApart(key) else { continue }
      let entries = try touching(key)
      if entries.isEmpty {
        try confirmed.moveBack(key)
        continue
      }
      var row = try confirmed.row(key)?.state
      for entry in entries where !entry.isVoid && !entry.isDormant {
        let operations = try decoded[entry.made] ?? byRow(entry.made)
        decoded[entry.made] = operations
        for (place, operation) in operations[key] ?? [] {
          // What the rule refuses here has no effect in the prediction; the server's verdict ends it.
          if case .becomes(let next) = Merge.apply(operation, at: place, of: entry.id, to: row, in: table) {
            row = next
          }
        }
      }
      try showPending(key, table, row)
    }
  }

  /// Shows a row that the outbox touches.
  func showPending(_ key: RowKey, _ table: TableInfo, _ row: RowState?) throws {
    if let row {
      try VisibleRows.write(key, table, row, hidden: VisibleRows.pending, replacing: true, connection)
    } else {
      try VisibleRows.delete(key, table, connection)
    }
  }

  /// The outbox entries that touch a row, in the order in which they were made.
  private func touching(_ key: RowKey) throws -> [(made: Int64, id: MutationID, isVoid: Bool, isDormant: Bool)] {
    try connection.query(
      """
      SELECT made, mid, void, dormant FROM skerry_outbox
      WHERE made IN (SELECT made FROM skerry_subjects WHERE tbl = ? AND key = ? AND role > 0) ORDER BY made
      """, .text(key.table), .blob(key.bytes)
    ) { row in
      guard let id = MutationID(bytes: row.blob(1)) else { throw StoreError(.damaged, "id of an outbox entry") }
      return (row.integer(0), id, row.integer(2) != 0, row.integer(3) != 0)
    }
  }

  /// The operations of an outbox entry by the row that they touch, each with its place in the mutation.
  private func byRow(_ made: Int64) throws -> [RowKey: [(place: Int, operation: Operation)]] {
    let entry = try connection.first(
      "SELECT \(OutboxEntry.columns) FROM skerry_outbox WHERE made = ?", .integer(made), row: OutboxEntry.init(row:))
    return Dictionary(grouping: (entry?.operations ?? []).placed) { $0.operation.key }
  }
}
