// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryStore

/// A device's file, for a person.
struct StoreReportView {
  let report: StoreReport
  let sizes: StoreFile.Sizes
  let showsKeys: Bool
  /// A person reads no longer list than this; `--json` gives all.
  private static let longest = 50

  init(_ report: StoreReport, _ sizes: StoreFile.Sizes, showsKeys: Bool) {
    self.report = report
    self.sizes = sizes
    self.showsKeys = showsKeys
  }

  var text: String {
    var out = ReportText()
    out.line(
      "device store, format \(report.format): account \(report.account), schema \(report.app) \(report.version)")
    out.line("replica ids: \(report.replicas.map(\.text).joined(separator: ", ")) (the last is in use)")
    write(cursor: report.cursor, to: &out)
    out.line("last in step: \(report.syncedAt.map(ReportText.time) ?? "never")")
    out.line("now: \(phase)")
    let heading = ["", "rows", "confirmed", "pending", "staged"]
    let tables = report.tables.map { [$0.name] + [$0.rows, $0.confirmed, $0.pending, $0.staged].map(String.init) }
    out.table("tables", tables.isEmpty ? [] : [heading] + tables)
    for table in report.tables where table.unconfirmed > 0 {
      out.line(
        "\(table.name): \(ReportText.count(table.unconfirmed, "row")) brought along that no sync has confirmed",
        indent: 1)
    }
    out.table("spaces", report.spaces.map { [$0.name.text, ReportText.count($0.rows, "row"), $0.state.rawValue] })
    out.table("lost, and not acknowledged", report.lostSpaces.map { [$0.text] })
    write(outbox: report.outbox, to: &out)
    write(refusals: report.refusals, to: &out)
    out.line("archive: \(ReportText.count(report.archived, "confirmed mutation")) that the server has not called safe")
    write(decisions: report.decisions, to: &out)
    out.line("digest mismatches: \(report.mismatches)")
    out.line(sizes.text)
    return out.text
  }

  private var phase: String {
    switch report.phase {
    case .neverSynced: "never synced"
    case .filling: "spaces are being filled, \(ReportText.count(report.items, "item")) of this catch-up so far"
    case .catchUp: "a catch-up is kept aside until it is whole, \(ReportText.count(report.items, "item")) so far"
    case .longCatchUp: "a long catch-up is published page by page, \(ReportText.count(report.items, "item")) so far"
    case .atRest: "no catch-up or refill under way"
    }
  }

  private func write(cursor: Cursor?, to out: inout ReportText) {
    guard let cursor else { return out.line("cursor: none") }
    out.line(
      "cursor: epoch \(cursor.epoch), position \(cursor.position), head \(cursor.head) (nonce \(cursor.nonce))")
    let open = cursor.open.map { item in
      let after = item.after.map { showsKeys ? "filled up to \($0)" : "filled up to a key" } ?? "nothing filled yet"
      return [item.space.text, after, "changes after position \(item.target) come by themselves"]
    }
    out.table("exceptions", open)
  }

  private func write(outbox: [StoreReport.Entry], to out: inout ReportText) {
    if outbox.isEmpty { return out.line("outbox: empty") }
    out.line("outbox: \(ReportText.count(outbox.count, "entry", "entries"))")
    for entry in outbox.prefix(StoreReportView.longest) {
      out.line(entry.title, indent: 1)
      let rows = StoreReportView.tables(entry.keys).map { "\($0) (\(ReportText.count($1, "row")))" }
      out.line("\(entry.bytes) bytes on \(rows.joined(separator: ", "))", indent: 2)
      if showsKeys { for key in entry.keys { out.line("\(key)", indent: 3) } }
    }
    let more = outbox.count - StoreReportView.longest
    if more > 0 { out.line("and \(more) more; --json lists all", indent: 1) }
  }

  private func write(refusals: [StoreReport.Refusal], to out: inout ReportText) {
    if refusals.isEmpty { return out.line("rejections: none") }
    out.line("rejections: \(refusals.count)")
    for refusal in refusals.prefix(StoreReportView.longest) {
      let label = refusal.label.map { " \"\($0)\"" } ?? ""
      let code = refusal.code?.text ?? "no code is known"
      out.line(
        "\(refusal.id)\(label), \(refusal.outcome.rawValue) (\(code)): \(reason(refusal) ?? "no reason is known")",
        indent: 1)
    }
    let more = refusals.count - StoreReportView.longest
    if more > 0 { out.line("and \(more) more; --json lists all", indent: 1) }
  }

  private func write(decisions: [PastDecision], to out: inout ReportText) {
    if decisions.isEmpty { return out.line("last decisions: none is known") }
    out.line("last decisions, newest first:")
    for decision in decisions.reversed().prefix(StoreReportView.longest) { out.line("\(decision)", indent: 1) }
    let more = decisions.count - StoreReportView.longest
    if more > 0 { out.line("and \(more) more; --json lists all", indent: 1) }
  }

  func reason(_ refusal: StoreReport.Refusal) -> String? {
    refusal.reason.map { SafeReason.text($0, code: refusal.code, keys: showsKeys ? [] : refusal.keys) }
  }

  /// The tables of some rows, with how many of the rows are in each.
  static func tables(_ keys: [RowKey]) -> [(name: String, rows: Int)] {
    Dictionary(grouping: keys, by: \.table).map { ($0.key, $0.value.count) }.sorted { $0.0 < $1.0 }
  }
}
