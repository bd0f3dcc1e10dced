// SPDX-License-Identifier: Apache-2.0

// The smallest program that uses Skerry, and imports nothing else: which libraries it is linked with is tested, and
// `scripts/binary-size` measures what it adds to a program.

import Skerry

struct Note: Record {
  var id = RowID<Note>()
  var owner: String
  var text: String

  static let table = TableSchema<Note>("notes") {
    Column("owner", \.owner)
    Column("text", \.text)
  }.space("user", by: \.owner)
}

let schema = Schema("footprint", version: 1) { Feature("notes", .replica) { Note.table } }
guard let folder = CommandLine.arguments.dropFirst().first else {
  print("usage: SkerryFootprint FOLDER")
  throw CancellationError()
}
let replica = try await Replica.open(in: folder, account: "ana", schema: schema)
try await replica.write { _ = try $0.insert(Note(owner: "ana", text: "one more")) }
print(try await replica.read(Note.query("ORDER BY id")).count)
