// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryAmbientKit
import SkerryModel
import SkerrySQLiteKit

/// Opening a store of a million rows and reading the first 50 records, against bare SQLite that opens as large a table for the
/// same durability and reads the same 50. Every time with new connections; the system has the file in its memory.
enum OpenBench {
  /// Openings of each a run, of which the middle one counts.
  private static let openings = 15
  private static let shown = 50

  static func run(_ scale: BenchScale) async throws {
    let count = scale.count(1_000_000)
    var result = BenchResult(
      bench: "open", name: "first \(shown) of \(count) rows", ours: [], bare: [], better: .lower, aim: 2,
      unit: "milliseconds")
    try await scale.withFolder { folder in
      try await fill(folder, count)
      let bare = folder + "/bare.db"
      try fillBare(bare, count)
      for _ in 0..<scale.runs {
        var (with, without): ([Double], [Double]) = ([], [])
        for _ in 0..<openings {
          with.append(try await open(folder))
          without.append(try await openBare(bare))
        }
        result.ours.append(BenchResult.median(with) * 1e3)
        result.bare.append(BenchResult.median(without) * 1e3)
      }
    }
    result.print()
  }

  /// Seconds until the rows are there; closing is no part of it.
  private static func open(_ folder: String) async throws -> Double {
    var opened: Replica?
    var visits: [BenchVisit] = []
    let time = try await seconds {
      let replica = try await Replica.open(in: folder, account: BenchTable.account, schema: BenchVisit.schema)
      visits = try await replica.read(BenchVisit.query("ORDER BY id LIMIT \(shown)"))
      opened = replica
    }
    guard opened != nil, visits.count == shown, visits.last == BenchVisit(shown) else {
      throw ProcessError("other rows were read")
    }
    return time
  }

  private static func openBare(_ path: String) async throws -> Double {
    var opened: SQLiteConnection?
    var rows: [[SQLiteValue]] = []
    let time = try await seconds {
      let connection = try SQLiteConnection(path: path, mode: .writer)
      rows = try connection.query(
        "SELECT id, owner, title, note, at, price, amount FROM visits ORDER BY id LIMIT \(shown)"
      ) { row in (0..<row.count).map(row.value) }
      opened = connection
    }
    guard opened != nil, rows.count == shown, rows.last?.first == .text(BenchTable.id(shown)) else {
      throw ProcessError("other rows were read")
    }
    return time
  }

  /// As many confirmed rows as a device holds after a long first sync.
  private static func fill(_ folder: String, _ count: Int) async throws {
    let replica = try await Replica.open(in: folder, account: BenchTable.account, schema: BenchVisit.schema)
    _ = try await replica.withConnection { connection in
      try connection.transaction(.immediate) {
        try connection.run(
          """
          INSERT INTO main.visits(id, owner, title, note, at, price, amount, skerry_tag, skerry_inc, skerry_space,
          skerry_gen, skerry_state)
          \(rows), CAST(printf('%016x', n) AS BLOB), CAST(printf('%018x', n) AS BLOB), 1, 1, 0 FROM numbers
          """, .integer(Int64(count)))
      }
    }
  }

  private static func fillBare(_ path: String, _ count: Int) throws {
    let connection = try BenchTable.bare(path)
    _ = try connection.transaction(.immediate) {
      try connection.run("INSERT INTO visits \(rows) FROM numbers", .integer(Int64(count)))
    }
  }

  /// What `BenchVisit.init` gives, as SQL.
  private static let rows = """
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
    SELECT printf('0190b5a0-0000-7000-8000-%012x', n), '\(BenchTable.account.text)', printf('Visit number %d of many', n),
    printf('Nobody was at home; come again on Monday, the dog is friendly (%d)', n % 97), 1800000000000 + n,
    n % 1000 + 0.25, n % 13
    """
}
