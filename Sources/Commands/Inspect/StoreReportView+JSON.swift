// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryStore
import SkerryWire

extension StoreReportView {
  /// The same as one JSON object.
  var json: JSON {
    .sorted([
      "kind": .string("device"), "format": .integer(report.format), "account": .string(report.account.text),
      "schema": .sorted(["name": .string(report.app), "version": .integer(report.version)]),
      "replicas": .texts(report.replicas), "cursor": report.cursor.map(json) ?? .null,
      "syncedAt": .orNull(report.syncedAt), "phase": .string(report.phase.rawValue), "items": .integer(report.items),
      "tables": .each(report.tables, json), "spaces": .each(report.spaces, json),
      "lostSpaces": .texts(report.lostSpaces), "outbox": .each(report.outbox, json),
      "rejections": .each(report.refusals, json), "archived": .integer(report.archived),
      "decisions": .each(report.decisions, StoreReportView.json),
      "mismatches": .integer(report.mismatches), "file": sizes.json,
    ])
  }

  private func json(_ cursor: Cursor) -> JSON {
    .sorted([
      "epoch": .string(cursor.epoch), "position": .integer(cursor.position), "head": .integer(cursor.head),
      "nonce": .string(cursor.nonce),
      "exceptions": .each(cursor.open) { item in
        let json = JSON.sorted([
          "space": .string(item.space.text), "target": .integer(item.target), "begun": .bool(item.after != nil),
        ])
        return showsKeys ? json.with("after", item.after.map(JSON.key) ?? .null) : json
      },
    ])
  }

  private func json(_ table: StoreReport.Table) -> JSON {
    .sorted([
      "name": .string(table.name), "rows": .integer(table.rows), "confirmed": .integer(table.confirmed),
      "unconfirmed": .integer(table.unconfirmed),
      "pending": .integer(table.pending), "staged": .integer(table.staged),
    ])
  }

  static func json(_ decision: PastDecision) -> JSON {
    .sorted([
      "at": .integer(decision.at), "kind": .string(decision.kind.name),
      "mutation": .orNull(decision.mutation?.description), "code": .orNull(decision.code?.text),
      "rule": .orNull(decision.rule), "count": .init(decision.count), "position": .orNull(decision.position),
    ])
  }

  private func json(_ space: StoreReport.Space) -> JSON {
    .sorted([
      "name": .string(space.name.text), "rows": .integer(space.rows), "state": .string(space.state.rawValue),
    ])
  }

  private func json(_ entry: StoreReport.Entry) -> JSON {
    let json = StoreReportView.json(entry)
    return showsKeys ? json.with("keys", .each(entry.keys, JSON.key)) : json
  }

  /// Without the keys of rows.
  static func json(_ entry: StoreReport.Entry) -> JSON {
    .sorted([
      "id": .string(entry.id.description), "number": .integer(entry.number), "label": .orNull(entry.label),
      "madeAt": .integer(entry.madeAt), "state": .string(entry.state.rawValue), "sent": .bool(entry.isSent),
      "after": .each(entry.after) { .string($0.description) }, "attempts": .init(entry.attempts),
      "lastError": .orNull(entry.lastError), "bytes": .init(entry.bytes),
      "tables": .each(tables(entry.keys)) { .sorted(["name": .string($0.name), "rows": .init($0.rows)]) },
    ])
  }

  private func json(_ refusal: StoreReport.Refusal) -> JSON {
    let json = JSON.sorted([
      "id": .string(refusal.id.description), "outcome": .string(refusal.outcome.rawValue),
      "code": .orNull(refusal.code?.text), "reason": .orNull(reason(refusal)), "label": .orNull(refusal.label),
      "at": .integer(refusal.at),
    ])
    return showsKeys ? json.with("keys", .each(refusal.keys, JSON.key)) : json
  }
}
