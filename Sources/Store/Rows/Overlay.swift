// SPDX-License-Identifier: Apache-2.0
import SkerryMerge
import SkerryModel
import SkerrySQLiteKit

/// visible = fold(base, pending operations of that row): recomputed for touched rows only, in the applying transaction.
extension Store {
  /// Recomputes what the user sees of some rows from their bases and the outbox.
  func refold(_ keys: some Sequence<RowKey>, _ confirmed: ConfirmedRows) throws {
    for key in Set(keys).sorted() {
      guard let table = catalog.table(key.table), try confirmed.isApart(key) else { continue }
      let entries = try touching(key)
      if entries.isEmpty {
        try confirmed.moveBack(key)
        continue
      }
      var row = try confirmed.row(key)?.state
      for entry in entries where !entry.isVoid && !entry.isDormant {
        for (index, operation) in entry.operations.enumerated() where operation.key == key {
          // What the rule refuses here has no effect in the prediction; the server's verdict ends it.
          if case .becomes(let next) = Merge.apply(operation, at: index, of: entry.id, to: row, in: table) {
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
  private func touching(_ key: RowKey) throws -> [OutboxEntry] {
    try connection.query(
      """
      SELECT \(OutboxEntry.columns) FROM skerry_outbox
      WHERE made IN (SELECT made FROM skerry_subjects WHERE tbl = ? AND key = ? AND role > 0) ORDER BY made
      """, .text(key.table), .blob(key.bytes), row: OutboxEntry.init(row:))
  }
}
