// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel

extension RowStory {
  /// Why the row looks as it does, in one sentence without values.
  package var conclusion: String { ([opening] + additions).joined(separator: "; ") }

  private var pending: [Change] { changes.filter(\.counts) }

  private var opening: String {
    if folded != visible {
      return "not as it should be: the confirmed row and the pending changes give something else than what is shown, "
        + "so the file is damaged or another program has changed it"
    }
    if !pending.isEmpty { return pendingOpening }
    if visible != nil { return shownOpening }
    return absentOpening
  }

  /// Some mutation counts that the server has not judged.
  private var pendingOpening: String {
    let count = RowStory.count(pending.count, "pending change")
    let hasEffect = pending.contains { $0.steps.contains { $0.refusal == nil } }
    guard hasEffect else {
      let shown = visible == nil ? "not here" : "shown as the server confirmed it"
      return "\(shown): \(count) of it can have no effect, and the server will say so"
    }
    if isGuess {
      let shown = visible == nil ? "deleted here" : "shown with \(count)"
      return
        "\(shown), over a row that the app brought along: the change waits for the first sync to tell what it meets"
    }
    switch (confirmed, visible) {
    case (nil, nil): return "not here: made and deleted here, the server has confirmed neither yet"
    case (nil, .some): return "made here, the server has not confirmed it yet (\(count))"
    case (.some, nil): return "deleted here, the server has not confirmed it yet (\(count))"
    case (.some(let old), .some(let new)) where old.incarnation != new.incarnation:
      return "deleted and made anew here, the server has not confirmed that yet (\(count))"
    case (.some, .some): return "shown with \(count) that the server has not judged yet"
    }
  }

  private var shownOpening: String {
    if isGuess { return "shown as the app brought it along: no sync has told yet whether the server has it" }
    if !changes.isEmpty { return "shown as the server confirmed it" + sleeping }
    return "shown as the server confirmed it" + asOf
  }

  private var absentOpening: String {
    if !changes.isEmpty { return "not here, by what the server confirmed" + sleeping }
    if held.contains(where: { $0.row != nil }) {
      return "not here yet: it has arrived, and is kept aside until the catch-up is whole"
    }
    if let refused = refusals.first(where: { $0.operations.contains { $0.key == key && $0.isInsert } }) {
      return "not here: the server refused the change that made it (\(refused.code?.text ?? "no code is known"))"
    }
    if position == nil { return "not here: this device has never been in touch with a server" }
    if !filling.isEmpty {
      let are = filling.count == 1 ? "is" : "are"
      return "not here yet: \(RowStory.count(filling.count, "space")) \(are) still being filled, and it may come"
    }
    return "not here: none of the spaces this account holds has it" + asOf
  }

  /// Mutations that are in the outbox and do not count: the effects of those that are offered again are in the old base.
  private var sleeping: String {
    let dormant = changes.filter { $0.entry.state == .dormant }.count
    let void = changes.count - dormant
    var parts: [String] = []
    if dormant > 0 {
      parts.append(
        "before a reset, with \(RowStory.count(dormant, "change")) offered again until the refill is complete")
    }
    if void > 0 { parts.append("with \(RowStory.count(void, "discarded change")) that the server has yet to settle") }
    return " " + parts.joined(separator: ", ")
  }

  private var additions: [String] {
    let aside = changes.filter { $0.entry.state == .setAside }.count
    let isAbsence = pending.isEmpty && visible == nil && changes.isEmpty
    let other = refusals.filter { !isAbsence || !$0.operations.contains { $0.key == key && $0.isInsert } }
    var out: [String] = []
    if aside > 0 {
      out.append("\(aside) of them \(aside == 1 ? "is" : "are") set aside until somebody retries or discards")
    }
    if let last = held.last, visible != nil || last.row == nil {
      let what = last.row == nil ? "its end" : "a newer version"
      out.append("\(what) has arrived, and is kept aside until the catch-up is whole")
    }
    if !other.isEmpty {
      let codes = other.map { $0.code?.text ?? "no code is known" }.joined(separator: ", ")
      let were = other.count == 1 ? "was" : "were"
      out.append(
        "\(RowStory.count(other.count, "earlier change")) of it \(were) refused (\(codes)), and nobody has acknowledged that"
      )
    }
    if isAbsence, !lostSpaces.isEmpty {
      out.append("the account has lost \(lostSpaces.map(\.text).joined(separator: ", "))")
    }
    return out
  }

  private var asOf: String { position.map { ", as of position \($0)" } ?? "" }

  private static func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }
}
