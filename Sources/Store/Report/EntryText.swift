// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

extension StoreReport.Entry {
  /// Id, number, label, state, predecessors and failures in one line.
  package var title: String {
    var parts = ["\(id) n \(number)" + (label.map { " \"\($0)\"" } ?? ""), state.text]
    if isSent, state != .sent { parts.append("was sent") }
    if !after.isEmpty { parts.append("waits for \(after.map(\.description).joined(separator: " and "))") }
    if attempts > 0 || lastError != nil {
      parts.append("\(ReportText.count(attempts, "failed attempt")), last error: \(lastError ?? "none")")
    }
    return parts.joined(separator: ", ")
  }
}

extension StoreReport.Entry.State {
  /// For a person.
  package var text: String {
    switch self {
    case .dormant: "dormant: offered again after a reset"
    case .setAside: "set aside until somebody retries or discards"
    case .void: "void: discarded here"
    case .sent: "sent"
    case .waiting: "waiting"
    }
  }
}

/// A refusal's sentence without what a report must not show.
package enum SafeReason {
  /// - Parameter keys: the rows whose keys are left out of it; only their tables remain.
  package static func text(_ reason: String, code: RefusalCode?, keys: [RowKey]) -> String {
    // The sentences of our own server name tables and keys. The words of a database, or of a server that is not known, may
    // quote a value, as an app's trigger does.
    let ours: [RefusalCode] = [.exists, .gone, .stale, .forbidden, .overflow, .invalid]
    let known = ["UNIQUE", "NOT NULL", "CHECK", "FOREIGN KEY"].map { $0 + " constraint failed" }
    let isSafe = code.map(ours.contains) ?? false || code == .constraint && known.contains { reason.hasPrefix($0) }
    guard isSafe else { return "(left out: it may quote values)" }
    // The longest first: one key may be the beginning of another.
    return keys.sorted { $0.description.utf8.count > $1.description.utf8.count }.reduce(reason) {
      $0.replacing($1.description, with: "\($1.table)/…")
    }
  }
}
