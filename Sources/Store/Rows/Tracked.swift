// SPDX-License-Identifier: Apache-2.0

import SkerryModel
public import SkerryRecords
import SkerrySQLiteKit
import SkerryTables

/// How far a record's own changes are.
public enum RecordState: Sendable, Hashable {
  /// The server has confirmed what is shown.
  case confirmed
  /// The app brought it along as already on the server, and the first sync has not shown that yet.
  case unconfirmed
  /// A change of it waits, and was not handed to the transport yet.
  case waiting
  /// All changes of it were handed to the transport, and have no outcome yet.
  case sent
  /// A change of it failed alone while others passed, and waits for a person.
  case failed
}

/// A record with what is known of it.
public struct Tracked<Record: SkerryRecords.Record>: Sendable {
  /// The record, with all pending changes.
  public let record: Record
  /// How far the user's own changes of it are.
  public let state: RecordState
  /// When the device last was as the server was, while the server had the record: it is no older than this, apart from the
  /// user's own changes. In milliseconds since 1970 by the device's clock; nil if the server has not confirmed it yet.
  public let confirmedAt: Int64?
}

extension Tracked: Equatable where Record: Equatable {}
extension Tracked: Hashable where Record: Hashable {}

extension Tracked: Identifiable {
  /// The record's own.
  public var id: Record.ID { record.id }
}

extension SkerryRecords.Record {
  /// As `query(_:)`, with state and confirmation time beside each record.
  ///
  /// When it is observed, it is told anew at each consistent point, too, since the records are fresher then.
  public static func tracked(_ clauses: SQL = "") -> Query<Tracked<Self>> {
    Query { source in
      guard let source = source as? ConnectionSource else {
        throw StoreError(.invalid, "no source for tracked records")
      }
      guard let info = source.catalog.table(table.name) else {
        throw StoreError(.invalid, "the schema has no synced table '\(table.name)'; what is local only has no state")
      }
      let name = SQL.quoted(table.name)
      let from = "\(QueryViews.tracked(info)) AS \(name)"
      var answer = Answer<Tracked<Self>>()
      let syncedAt = try source.syncedAt()
      let hidden = ", \(name).skerry_state, \(name).skerry_inc"
      for row in try source.rows(select(hidden, from: from) + clauses) {
        let pending = try source.pendingChanges(of: row, key: table.key, of: table.name)
        answer.take(row) { row in
          let isGuess = row["skerry_state"] == .integer(Guesses.state)
          return Tracked(
            record: try row.decoded(as: Self.self), state: pending?.state ?? (isGuess ? .unconfirmed : .confirmed),
            confirmedAt: pending?.isNew == true || isGuess ? nil : syncedAt)
        }
      }
      return answer
    }
  }
}

extension ConnectionSource {
  /// When the store last reached a consistent point.
  fileprivate func syncedAt() throws -> Int64? {
    let time = try connection.first("SELECT synced FROM main.skerry_state") { $0.modelValue(0) } ?? .null
    note([time], under: ConnectionSource.consistentPoints)
    return time.integer
  }

  /// How far the outbox is with a row, and whether it has made it; nil if it does not touch it.
  fileprivate func pendingChanges(
    of row: Row, key: [String], of table: String
  ) throws -> (state: RecordState, isNew: Bool)? {
    guard row["skerry_state"] != .integer(0), let incarnation = row["skerry_inc"] else { return nil }
    let key = RowKey(table, values: key.map { row[$0] ?? .null })
    // An incarnation begins with the id of the mutation that inserted the row.
    let found = try rows(
      SQL(
        trusted: """
          SELECT max(o.failed), min(o.sent), max(o.mid = substr(?, 1, 16))
          FROM skerry_subjects AS s JOIN skerry_outbox AS o ON o.made = s.made
          WHERE s.tbl = ? AND s.key = ? AND s.role > 0 AND o.void = 0
          """, [incarnation, .text(key.table), .blob(key.bytes)]))
    guard let values = found.first?.values, let isSent = values[1].integer else { return nil }
    return (values[0] != .integer(0) ? .failed : isSent != 0 ? .sent : .waiting, values[2] != .integer(0))
  }
}
