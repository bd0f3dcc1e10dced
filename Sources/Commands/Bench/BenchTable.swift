// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit

/// The table that is measured: ours with all that Skerry keeps beside it, and the same columns bare.
enum BenchTable {
  static let account = AccountID("ana")

  static let schema = Schema(
    "bench", version: 1, spaces: [],
    features: [
      FeatureDefinition(
        "all", .replica,
        tables: [
          TableDefinition(
            "visits",
            columns: [
              ColumnDefinition("id", .text), ColumnDefinition("owner", .text), ColumnDefinition("title", .text),
              ColumnDefinition("note", .text, optional: true), ColumnDefinition("at", .timestamp),
              ColumnDefinition("price", .real), ColumnDefinition("amount", .integer),
            ], spaces: [.owner(column: "owner", kind: "user")])
        ])
    ])

  static let create = """
    CREATE TABLE visits(id TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL, note TEXT,
    at INTEGER NOT NULL, price REAL NOT NULL, amount INTEGER NOT NULL)
    """
  static let index = "CREATE INDEX bench_title ON visits(title)"
  static let insert = "INSERT INTO visits(id, owner, title, note, at, price, amount) VALUES (?, ?, ?, ?, ?, ?, ?)"

  /// The values of the row with this number; keys grow as UUIDv7 do.
  static func row(_ number: Int) -> [String: Value] {
    [
      "id": .text(id(number)), "owner": .text(account.text), "title": .text("Visit number \(number) of many"),
      "note": .text("Nobody was at home; come again on Monday, the dog is friendly (\(number % 97))"),
      "at": .integer(1_800_000_000_000 + Int64(number)), "price": .real(Double(number % 1_000) + 0.25),
      "amount": .integer(Int64(number % 13)),
    ]
  }

  static func id(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return "0190b5a0-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  /// The same values in the order of `insert`.
  static func values(_ number: Int) -> [SQLiteValue] {
    [
      .text(id(number)), .text(account.text), .text("Visit number \(number) of many"),
      .text("Nobody was at home; come again on Monday, the dog is friendly (\(number % 97))"),
      .integer(1_800_000_000_000 + Int64(number)), .real(Double(number % 1_000) + 0.25), .integer(Int64(number % 13)),
    ]
  }

  /// A database with the bare table.
  static func bare(_ path: String, synchronous: String = "FULL") throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: path, mode: .writer)
    try connection.execute("PRAGMA synchronous = \(synchronous)")
    try connection.execute(create)
    return connection
  }
}
