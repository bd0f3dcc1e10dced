// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerryStore
import SkerryWire

extension RowStoryView {
  /// The same as one JSON object.
  var json: JSON {
    .sorted([
      "kind": .string("device"), "row": .key(story.key), "visible": json(story.visible),
      "confirmed": json(story.confirmed), "differs": .each(story.differingColumns) { .string($0) },
      "holdings": .each(story.holdings, json), "places": .each(story.places, json),
      "outbox": .each(story.changes, json), "staged": .each(story.held, json),
      "rejections": .each(story.refusals, json), "lostSpaces": .texts(story.lostSpaces),
      "filling": .texts(story.filling), "position": .orNull(story.position),
      "unconfirmed": .bool(story.isGuess), "decisions": .each(story.decisions, StoreReportView.json),
      "syncedAt": .orNull(story.syncedAt), "conclusion": .string(story.conclusion),
    ])
  }

  private func json(_ row: RowState?) -> JSON { row.map { .row($0, story.table, values: showsValues) } ?? .null }

  private func json(_ holding: RowStory.Holding) -> JSON {
    .sorted([
      "space": .string(holding.space.text), "first": .bool(holding.isFirst), "seen": .bool(holding.isSeen),
      "state": .string(holding.state.rawValue),
    ])
  }

  private func json(_ place: RowStory.Place) -> JSON {
    .sorted(["space": .string(place.space.text), "state": .orNull(place.state?.rawValue)])
  }

  private func json(_ change: RowStory.Change) -> JSON {
    StoreReportView.json(change.entry).with(
      "operations",
      .each(change.steps) { json($0.operation).with("withoutEffect", .orNull($0.refusal?.text)) })
  }

  private func json(_ operation: Operation) -> JSON {
    switch operation.action {
    case .insert(let fields): .sorted(["op": .string("insert"), "fields": json(fields)])
    case .set(let fields, let base):
      .sorted(["op": .string("set"), "fields": json(fields), "base": .orNull(base?.description)])
    case .increment(let column, let amount):
      .sorted(["op": .string("increment"), "fields": json([Field(column, .integer(amount))])])
    case .delete: .sorted(["op": .string("delete"), "fields": .array([])])
    }
  }

  private func json(_ fields: [Field]) -> JSON {
    .each(fields) { field in
      let name = JSON.sorted(["column": .string(field.column)])
      return showsValues ? name.with("value", field.value.json) : name
    }
  }

  private func json(_ held: RowStory.Held) -> JSON {
    .sorted(["space": .string(held.space.text), "row": json(held.row)])
  }

  private func json(_ refusal: Rejection) -> JSON {
    .sorted([
      "id": .string(refusal.id.description), "outcome": .string(refusal.outcome.rawValue),
      "code": .orNull(refusal.code?.text), "reason": .orNull(reason(refusal)), "at": .integer(refusal.at),
      "operations": .each(refusal.operations.filter { $0.key == story.key }, json),
    ])
  }
}

extension JSON {
  /// A row's identity, and its values if they are wanted.
  static func row(_ row: RowState, _ table: TableInfo, values: Bool) -> JSON {
    let json = JSON.sorted([
      "version": .string(row.version.description), "incarnation": .string(row.incarnation.description),
    ])
    if !values { return json }
    return json.with("values", .sorted(zip(table.columns, row.values).map { Member($0.name, $1.json) }))
  }
}
