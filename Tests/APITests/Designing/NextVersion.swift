// SPDX-License-Identifier: Apache-2.0

import Skerry

/// The same reminders a year later: renamed, and one column given up.
enum NextVersion {
  struct Reminder: Record {
    var id = RowID<Reminder>()
    var owner: String
    var note: String
    var words: Int?
    static let table = TableSchema<Reminder>("notes") {
      Column("owner", \.owner)
      Column("note", \.note, was: ["text"])
      Column("words", \.words)
    }.space("user", by: \.owner).was("reminders").removed("colour")
  }

  static let schema = Schema("notes", version: 2) {
    Feature("own", .replica) { Reminder.table }
    RemovedTables("scraps")
  }
}

extension NextVersion {
  /// Opens the file of any earlier version, with all that waits in it, and fills what no rule can fill.
  static func open(in folder: String, account: AccountID) async throws -> Replica {
    let replica = try await Replica.open(in: folder, account: account, schema: schema)
    try await replica.write("count words", once: "words of version 2") { tx in
      for reminder in try tx.read(Reminder.query("WHERE words IS NULL")) {
        try tx.update(reminder.id) { $0.words = $0.note.split(separator: " ").count }
      }
    }
    return replica
  }
}
