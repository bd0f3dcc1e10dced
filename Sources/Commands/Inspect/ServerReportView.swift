// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore
import SkerryStorageSQLite
import SkerryStore
import SkerryWire

/// A server's file, for a person and as JSON.
struct ServerReportView {
  private let report: ServerReport
  private let sizes: StoreFile.Sizes
  /// A person reads no longer list than this; `--json` gives all.
  private static let longest = 50

  init(_ report: ServerReport, _ sizes: StoreFile.Sizes) {
    self.report = report
    self.sizes = sizes
  }

  var text: String {
    var out = ReportText()
    writeHistory(to: &out)
    list("spaces", report.spaces, to: &out) {
      [$0.name.text, ReportText.count($0.digest.rows, "row"), "head \($0.head)", "digest \($0.digest)"]
    }
    out.line("memberships: \(report.memberships)")
    list("replicas", report.replicas, to: &out) {
      let waiting = $0.unsequenced > 0 ? ", \($0.unsequenced) not sequenced" : ""
      return [
        $0.id.text, "account \($0.account)", "settled up to \($0.settled)",
        ReportText.count($0.receipts, "receipt") + waiting,
      ]
    }
    out.line("receipts: " + outcomes.map { "\($0.rawValue) \($1)" }.joined(separator: ", "))
    out.line(sizes.text)
    return out.text
  }

  private func writeHistory(to out: inout ReportText) {
    let history = report.history
    out.line(
      "server database: schema \(report.app) \(report.version), fingerprint \(Hex.text(report.fingerprint))")
    out.line("epoch \(history.epoch), position \(history.head) (nonce of the newest run: \(report.nonce ?? "none"))")
    out.line("floor \(history.floor), safe up to \(history.safe), \(ReportText.count(report.runs, "run")) kept")
    let tables = report.tables.map { [$0.name, String($0.rows), String($0.captures)] }
    out.table("tables", tables.isEmpty ? [] : [["", "rows", "captures waiting"]] + tables)
    let tombstones = entries(.left) + entries(.deleted)
    out.line(
      "log: \(ReportText.count(entries(.live) + tombstones, "entry", "entries")), "
        + "\(ReportText.count(tombstones, "tombstone")) among them")
    out.line("captures waiting for the sequencer: \(report.captures)")
  }

  private func list<T>(_ heading: String, _ items: [T], to out: inout ReportText, _ row: (T) -> [String]) {
    out.table(heading, items.prefix(ServerReportView.longest).map(row))
    let more = items.count - ServerReportView.longest
    if more > 0 { out.line("and \(more) more; --json lists all", indent: 1) }
  }

  private func entries(_ kind: EntryKind) -> Int64 { report.log[kind] ?? 0 }

  private var outcomes: [(Outcome, Int64)] {
    [Outcome.confirmed, .conflicted, .rejected, .void].map { ($0, report.receipts[$0] ?? 0) }
  }

  /// The same as one JSON object.
  var json: JSON {
    let history = report.history
    return .sorted([
      "kind": .string("server"), "epoch": .string(history.epoch), "position": .integer(history.head),
      "nonce": .orNull(report.nonce), "floor": .integer(history.floor), "safe": .integer(history.safe),
      "runs": .integer(report.runs), "memberships": .integer(report.memberships),
      "schema": .sorted([
        "name": .string(report.app), "version": .integer(report.version),
        "fingerprint": .string(Hex.text(report.fingerprint)),
      ]),
      "log": .sorted([
        "live": .integer(entries(.live)), "left": .integer(entries(.left)), "deleted": .integer(entries(.deleted)),
      ]),
      "captures": .integer(report.captures), "tables": .each(report.tables, json), "spaces": .each(report.spaces, json),
      "replicas": .each(report.replicas, json),
      "receipts": .sorted(outcomes.map { JSON.Member($0.rawValue, .integer($1)) }), "file": sizes.json,
    ])
  }

  private func json(_ table: ServerReport.Table) -> JSON {
    .sorted(["name": .string(table.name), "rows": .integer(table.rows), "captures": .integer(table.captures)])
  }

  private func json(_ space: ServerReport.Space) -> JSON {
    .sorted([
      "name": .string(space.name.text), "rows": .integer(space.digest.rows), "head": .integer(space.head),
      "digest": .string(space.digest.description),
    ])
  }

  private func json(_ replica: ServerReport.Replica) -> JSON {
    .sorted([
      "id": .string(replica.id.text), "account": .string(replica.account.text), "settled": .integer(replica.settled),
      "receipts": .integer(replica.receipts), "unsequenced": .integer(replica.unsequenced),
    ])
  }
}
