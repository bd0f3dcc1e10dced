// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel

/// One row's story on a device, for a person. The last line says why the row looks as it does.
package struct RowStoryView {
  package let story: RowStory
  package let showsValues: Bool

  package init(_ story: RowStory, showsValues: Bool) {
    self.story = story
    self.showsValues = showsValues
  }

  package var text: String {
    var out = ReportText()
    out.line("\(story.key), on a device")
    write("visible", story.visible, to: &out)
    writeConfirmed(to: &out)
    out.table(
      "held in", story.holdings.map { [$0.space.text, holding($0)] }, none: "no space, by the server's account")
    if story.visible != nil {
      out.table("belongs to, by the schema's rules", story.places.map { [$0.space.text, place($0)] }, none: "no space")
    }
    write(changes: story.changes, to: &out)
    write(held: story.held, to: &out)
    write(refusals: story.refusals, to: &out)
    write(decisions: story.decisions, to: &out)
    out.line("last in step: \(story.syncedAt.map(ReportText.time) ?? "never")")
    out.line(story.conclusion)
    return out.text
  }

  private func write(_ what: String, _ row: RowState?, to out: inout ReportText, without: Bool = false) {
    guard let row else { return out.line("\(what): no") }
    out.line("\(what): version \(row.version), incarnation \(row.incarnation)")
    if showsValues, !without { write(values: row.values, to: &out) }
  }

  private func write(values: [Value], to out: inout ReportText) {
    for (column, value) in zip(story.table.columns, values) {
      out.line("\(column.name) = \(ReportText.value(value))", indent: 1)
    }
  }

  private func writeConfirmed(to out: inout ReportText) {
    if story.isGuess { return out.line("confirmed: not yet, the app brought the row along as already on the server") }
    if story.confirmed == story.visible, story.confirmed != nil { return out.line("confirmed: the same") }
    write("confirmed", story.confirmed, to: &out)
    if !story.differingColumns.isEmpty {
      out.line("differs in \(story.differingColumns.joined(separator: ", "))", indent: 1)
    }
  }

  private func holding(_ holding: RowStory.Holding) -> String {
    let parts = [
      holding.isFirst ? "kept with the row" : "kept as a further space", RowStoryView.standing(holding.state),
      holding.isSeen ? nil : "a refill has not brought the row again yet",
    ]
    return parts.compactMap { $0 }.joined(separator: ", ")
  }

  private func place(_ place: RowStory.Place) -> String {
    place.state.map(RowStoryView.standing) ?? "no page has ever named it here"
  }

  /// Whether the account holds a space, as far as a device knows.
  static func standing(_ state: StoreReport.Space.State) -> String {
    switch state {
    case .filled: "this account holds it"
    case .filling: "this account holds it, and it is being filled"
    case .empty: "no row of it is here: it has none, or this account does not hold it"
    case .lost: "this account has lost it"
    }
  }

  private func write(changes: [RowStory.Change], to out: inout ReportText) {
    if changes.isEmpty { return out.line("in the outbox: nothing touches it") }
    out.line("in the outbox:")
    for change in changes {
      out.line(change.entry.title, indent: 1)
      for step in change.steps {
        let effect = step.refusal.map { ", without effect here (\($0))" } ?? ""
        out.line(operation(step.operation) + effect, indent: 2)
      }
    }
  }

  /// An operation by its kind and its fields; values only when asked.
  private func operation(_ operation: Operation) -> String {
    let fields = operation.fields.map { showsValues ? "\($0.column) = \(ReportText.value($0.value))" : $0.column }
    let list = fields.joined(separator: ", ")
    return switch operation.action {
    case .insert: fields.isEmpty ? "insert" : "insert with \(list)"
    case .set(_, let base): "set \(list)" + (base.map { ", having seen version \($0)" } ?? "")
    case .increment(let column, let amount): "increment \(column)" + (showsValues ? " by \(amount)" : "")
    case .delete: "delete"
    }
  }

  private func write(held: [RowStory.Held], to out: inout ReportText) {
    if held.isEmpty { return out.line("staged: nothing") }
    out.line("staged:")
    for item in held {
      out.line("by \(item.space): " + (item.row.map { "version \($0.version)" } ?? "its end"), indent: 1)
      if showsValues, let row = item.row { write(values: row.values, to: &out) }
    }
  }

  private func write(refusals: [Rejection], to out: inout ReportText) {
    if refusals.isEmpty { return out.line("rejections: none concerns it") }
    out.line("rejections:")
    for refusal in refusals {
      let code = refusal.code?.text ?? "no code is known"
      out.line(
        "\(refusal.id), \(refusal.outcome.rawValue) (\(code)): \(reason(refusal) ?? "no reason is known")", indent: 1)
      for operation in refusal.operations where operation.key == story.key {
        out.line(self.operation(operation), indent: 2)
      }
    }
  }

  private func write(decisions: [PastDecision], to out: inout ReportText) {
    guard let last = decisions.last else { return out.line("last decision: none is known") }
    out.line("last decision: \(last)")
  }

  /// The keys of other rows of the same mutation are nobody's question here.
  package func reason(_ refusal: Rejection) -> String? {
    let others = refusal.operations.map(\.key).filter { $0 != story.key }
    return refusal.reason.map { showsValues ? $0 : SafeReason.text($0, code: refusal.code, keys: others) }
  }
}
