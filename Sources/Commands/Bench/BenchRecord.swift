// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryModel
import SkerryRecords

/// `BenchTable` as an app declares it.
struct BenchVisit: Record, Equatable {
  var id: RowID<BenchVisit>
  var owner: String
  var title: String
  var note: String?
  var at: Int64
  var price: Double
  var amount: Int

  static let table = TableSchema<BenchVisit>("visits", id: .text) {
    Column("owner", \.owner)
    Column("title", \.title)
    Column("note", \.note)
    Column("at", \.at, as: .timestamp)
    Column("price", \.price)
    Column("amount", \.amount)
  }.space("user", by: \.owner)

  static let schema = Schema("bench", version: 1) {
    Feature("all", .replica) {
      table
      BenchNote.table
    }
  }

  init(_ number: Int) {
    id = RowID(BenchTable.id(number))
    owner = BenchTable.account.text
    title = "Visit number \(number) of many"
    note = "Nobody was at home; come again on Monday, the dog is friendly (\(number % 97))"
    at = 1_800_000_000_000 + Int64(number)
    price = Double(number % 1_000) + 0.25
    amount = number % 13
  }
}

/// Another table beside it.
struct BenchNote: Record {
  var id: RowID<BenchNote>
  var owner: String
  var text: String

  static let table = TableSchema<BenchNote>("notes", id: .text) {
    Column("owner", \.owner)
    Column("text", \.text)
  }.space("user", by: \.owner)
}
