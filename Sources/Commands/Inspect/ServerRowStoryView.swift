// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerryServerCore
import SkerryStorageSQLite
import SkerryStore
import SkerryWire

/// One row's story on a server, for a person and as JSON. The last line says why the row looks as it does.
struct ServerRowStoryView {
  private let story: ServerRowStory
  private let showsValues: Bool

  init(_ story: ServerRowStory, showsValues: Bool) {
    self.story = story
    self.showsValues = showsValues
  }

  var text: String {
    var out = ReportText()
    out.line("\(story.key), on a server")
    writeRow(to: &out)
    let header = story.header.map {
      "version \($0.version), incarnation \($0.incarnation), capture \($0.number)"
        + ($0.isDead ? ", dead until its end is sequenced" : "")
    }
    out.line("header: \(header ?? "none")")
    out.table("log", story.entries.map { [$0.space.text, "position \($0.position)", $0.kind.text] }, none: "no entry")
    out.table(
      "captures waiting", story.waiting.map { ["\($0.number)", "\($0.change)", "version \($0.tag)"] })
    out.line("floor: \(story.history.floor), newest position: \(story.history.head)")
    out.line(story.conclusion)
    return out.text
  }

  private func writeRow(to out: inout ReportText) {
    out.line("row: " + (story.isThere ? "there" : "no"))
    guard showsValues, let row = story.row else { return }
    for (column, value) in zip(story.table.columns, row.values) {
      out.line("\(column.name) = \(ReportText.value(value))", indent: 1)
    }
  }

  /// The same as one JSON object.
  var json: JSON {
    .sorted([
      "kind": .string("server"), "row": .key(story.key),
      "there": .bool(story.isThere), "current": story.row.map { .row($0, story.table, values: showsValues) } ?? .null,
      "header": story.header.map(json) ?? .null,
      "spaces": story.sequencedSpaces.map { .texts($0) } ?? .null,
      "log": .each(story.entries, json), "captures": .each(story.waiting, json),
      "floor": .integer(story.history.floor), "position": .integer(story.history.head),
      "conclusion": .string(story.conclusion),
    ])
  }

  private func json(_ entry: ServerRowStory.Entry) -> JSON {
    .sorted([
      "space": .string(entry.space.text), "position": .integer(entry.position), "kind": .string("\(entry.kind)"),
    ])
  }

  private func json(_ capture: ServerRowStory.Waiting) -> JSON {
    .sorted([
      "number": .integer(capture.number), "change": .string("\(capture.change)"),
      "version": .string(capture.tag.description),
    ])
  }

  private func json(_ header: ServerRowStory.Header) -> JSON {
    .sorted([
      "version": .string(header.version.description), "incarnation": .string(header.incarnation.description),
      "capture": .integer(header.number), "dead": .bool(header.isDead),
    ])
  }
}

extension EntryKind {
  /// For a person.
  fileprivate var text: String {
    switch self {
    case .live: "it is in the space"
    case .left: "it left the space"
    case .deleted: "it is no more"
    }
  }
}
