// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// A device as a history tells it, with the texts by which it is compared with what SQLite says.
struct HistoryDevice {
  struct Entry: Equatable {
    var mutation: Int
    var number: Int
    var isVoid = false
    var isSent = false
    var isDormant = false
  }

  struct Refusal {
    let mutation: Int
    let outcome: Outcome
    let code: String?
  }

  let user: String
  var ids: [String]
  var screen: HistoryRows
  var outbox: [Entry] = [] { didSet { outboxText = nil } }
  /// By mutation.
  var inbox: [Refusal] = [] { didSet { inboxText = nil } }
  /// In order.
  var archive: [Int] = [] { didSet { archiveText = nil } }
  var staged = 0
  /// The newest number that it gave a mutation.
  var counter = 0
  /// The spaces that its cursor still fills.
  var open: [SpaceID] = []
  private var (outboxText, inboxText, archiveText): (String?, String?, String?) = (nil, nil, nil)

  init(_ name: String, user: String, rows: Int) {
    self.user = user
    ids = [name]
    screen = HistoryRows(count: rows)
  }

  mutating func append(_ mutation: Int) {
    counter += 1
    outbox.append(Entry(mutation: mutation, number: counter))
  }

  mutating func change(_ mutation: Int, _ body: (inout Entry) -> Void) {
    if let index = outbox.firstIndex(where: { $0.mutation == mutation }) { body(&outbox[index]) }
  }

  /// Takes a new replica id: what waits is numbered anew.
  mutating func mint(_ name: String) {
    ids.append(name)
    for index in outbox.indices { outbox[index].number = index + 1 }
    counter = outbox.count
  }

  /// What `HistoryImage` must find.
  mutating func image(_ names: HistoryNames) -> HistoryImage {
    let outbox =
      outboxText
      ?? lines(outbox) { entry in
        names.hex(mutation: entry.mutation) + " \(entry.number) "
          + (entry.isVoid ? "1" : "0") + (entry.isSent ? "1" : "0") + (entry.isDormant ? "1" : "0")
      }
    let inbox =
      inboxText
      ?? lines(inbox) { refusal in
        names.hex(mutation: refusal.mutation) + " " + refusal.outcome.rawValue + " " + (refusal.code ?? "-")
      }
    let archive = archiveText ?? lines(archive) { names.hex(mutation: $0) }
    (outboxText, inboxText, archiveText) = (outbox, inbox, archive)
    return HistoryImage(
      rows: screen.image(names), outbox: outbox, inbox: inbox, archive: archive, staged: Int64(staged))
  }

  private func lines<T>(_ values: [T], _ line: (T) -> String) -> String {
    var out = ""
    for value in values { out += line(value) + "\n" }
    return out
  }
}
