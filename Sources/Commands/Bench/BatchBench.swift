// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerrySQLiteKit

/// Many records in a few writes, against bare prepared inserts of the same rows, with the outbox entries that we keep.
enum BatchBench {
  /// Records in one write.
  private static let size = 1_000

  static func run(_ scale: BenchScale) async throws {
    let count = max(size, scale.count(100_000) / size * size)
    var result = BenchResult(
      bench: "batch", name: "\(count) records in writes of \(size)", ours: [], bare: [], better: .lower, aim: 1.5,
      unit: "microseconds a record")
    for _ in 0..<scale.runs {
      try await scale.withFolder { folder in
        let visits = (0..<count).map(BenchVisit.init)
        let replica = try await Replica.open(in: folder, account: BenchTable.account, schema: BenchVisit.schema)
        let ours = try await seconds {
          for start in stride(from: 0, to: count, by: size) {
            try await replica.write { try $0.insert(contentsOf: visits[start..<start + size]) }
          }
        }
        let entries = try await replica.withConnection { connection in
          try connection.query("SELECT * FROM skerry_outbox ORDER BY made") { row in (0..<row.count).map(row.value) }
        }
        let bare = try await seconds { try insertBare(visits, entries, folder + "/bare.db") }
        result.ours.append(ours / Double(count) * 1e6)
        result.bare.append(bare / Double(count) * 1e6)
      }
    }
    result.print()
  }

  private static func insertBare(_ visits: [BenchVisit], _ entries: [[SQLiteValue]], _ path: String) throws {
    let connection = try BenchTable.bare(path)
    try connection.execute(
      """
      CREATE TABLE outbox(
        made INTEGER PRIMARY KEY, mid BLOB NOT NULL UNIQUE, n INTEGER NOT NULL, ops BLOB NOT NULL, subjects BLOB NOT NULL,
        label TEXT, at INTEGER NOT NULL, void INTEGER NOT NULL, sent INTEGER NOT NULL, dormant INTEGER NOT NULL,
        failed INTEGER NOT NULL, attempts INTEGER NOT NULL, error TEXT) STRICT
      """)
    let places = Array(repeating: "?", count: 13).joined(separator: ", ")
    for (number, entry) in entries.enumerated() {
      try connection.transaction(.immediate) {
        for visit in visits[number * size..<(number + 1) * size] {
          try connection.statement(BenchTable.insert).run([
            .text(visit.id.text), .text(visit.owner), .text(visit.title), visit.note.map { .text($0) } ?? .null,
            .integer(visit.at), .real(visit.price), .integer(Int64(visit.amount)),
          ])
        }
        try connection.statement("INSERT INTO outbox VALUES (\(places))").run(entry)
      }
    }
  }
}
