// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryModel
import SkerrySQLiteKit

/// What a write costs while a thousand observers watch another table, against the same write with none. The two stores are
/// alike and are written to in turns; with `synchronous=OFF`, the disk does not hide what the observers cost.
enum ObserversBench {
  private static let observers = 1_000

  static func run(_ scale: BenchScale) async throws {
    let count = scale.count(5_000)
    var result = BenchResult(
      bench: "observers", name: "\(observers) of another table", ours: [], bare: [], better: .lower, aim: 1.05,
      unit: "microseconds a write")
    for _ in 0..<scale.runs {
      try await scale.withFolder { folder in
        let (watched, alone) = (try await open(folder, "watched"), try await open(folder, "alone"))
        let tasks = try await observe(watched)
        var (with, without): ([Double], [Double]) = ([], [])
        for number in 0..<count {
          let visit = BenchVisit(number)
          // What has just run is warm: each is the first as often as the other.
          if number % 2 == 0 { with.append(try await write(visit, watched)) }
          without.append(try await write(visit, alone))
          if number % 2 == 1 { with.append(try await write(visit, watched)) }
        }
        for task in tasks { task.cancel() }
        for task in tasks { try await task.value }
        result.ours.append(BenchResult.median(with) * 1e6)
        result.bare.append(BenchResult.median(without) * 1e6)
      }
    }
    result.print()
  }

  private static func open(_ folder: String, _ account: AccountID) async throws -> Replica {
    let replica = try await Replica.open(in: folder, account: account, schema: BenchVisit.schema)
    try await replica.withConnection { try $0.execute("PRAGMA synchronous = OFF") }
    return replica
  }

  private static func write(_ visit: BenchVisit, _ replica: Replica) async throws -> Double {
    try await seconds { try await replica.write { try $0.insert(visit) } }
  }

  /// Observers of single notes, each of which has had its first answer.
  private static func observe(_ replica: Replica) async throws -> [Task<Void, any Error>] {
    let (answered, answer) = AsyncStream.makeStream(of: Void.self)
    let tasks = (0..<observers).map { number in
      Task {
        let note = RowID<BenchNote>("note \(number)")
        for try await _ in replica.observe(BenchNote.query(id: note)) { answer.yield() }
      }
    }
    var count = 0
    for await _ in answered {
      count += 1
      if count == observers { break }
    }
    return tasks
  }
}
