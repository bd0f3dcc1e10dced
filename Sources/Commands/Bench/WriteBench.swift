// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryModel
import SkerrySQLiteKit

/// A local write (rows, outbox entry, all that belongs to it) against a bare transaction of one insert with the same
/// durability. With `synchronous=OFF` on both, the disk does not hide what we cost.
enum WriteBench {
  static func run(_ scale: BenchScale) async throws {
    for (synchronous, full) in [("FULL", 500), ("OFF", 5_000)] {
      let count = scale.count(full)
      var result = BenchResult(
        bench: "write", name: "synchronous=\(synchronous)", ours: [], bare: [], better: .lower, aim: 2,
        unit: "microseconds a write")
      for _ in 0..<scale.runs {
        try await scale.withFolder { folder in
          let ours = try await seconds { try await write(count, folder, synchronous) }
          let bare = try await seconds { try writeBare(count, folder, synchronous) }
          result.ours.append(ours / Double(count) * 1e6)
          result.bare.append(bare / Double(count) * 1e6)
        }
      }
      result.print()
    }
  }

  private static func write(_ count: Int, _ folder: String, _ synchronous: String) async throws {
    let replica = try await Replica.open(in: folder, account: BenchTable.account, schema: BenchTable.schema)
    try await replica.withConnection { try $0.execute("PRAGMA synchronous = \(synchronous)") }
    for number in 0..<count {
      let row = BenchTable.row(number)
      try await replica.write { tx in try tx.insert("visits", row) }
    }
  }

  private static func writeBare(_ count: Int, _ folder: String, _ synchronous: String) throws {
    let connection = try BenchTable.bare(folder + "/bare.db", synchronous: synchronous)
    for number in 0..<count {
      _ = try connection.transaction(.immediate) {
        try connection.statement(BenchTable.insert).run(BenchTable.values(number))
      }
    }
  }
}
