// SPDX-License-Identifier: Apache-2.0

import Foundation
import Skerry
import SkerryAmbientKit
import SkerryHTTP
import SkerrySQLiteKit

/// The first sync of 100,000 rows between two processes over real HTTP, with token, digests and an index, against bare
/// prepared inserts into the same table.
enum FirstSyncBench {
  static func run(_ scale: BenchScale) async throws {
    let count = scale.count(100_000)
    var result = BenchResult(
      bench: "firstSync", name: "\(count) rows", ours: [], bare: [], better: .lower, aim: 2.5, unit: "seconds")
    try await scale.withFolder { folder in
      let schemaFile = folder + "/schema.json"
      try JSONEncoder().encode(BenchTable.schema).write(to: URL(fileURLWithPath: schemaFile))
      let files = try ServerFiles(folder: folder, schema: schemaFile)
      try fill(files.database, count)
      let server = try ServerProcess(files)
      // The rows were there before the server: they get their positions before anything is measured.
      _ = try await sync(files, server, folder + "/first", count)
      for run in 0..<scale.runs {
        result.ours.append(try await sync(files, server, folder + "/run\(run)", count))
        result.bare.append(try await insert(folder + "/bare\(run).db", count))
      }
      server.process.end()
    }
    result.print()
  }

  private static func fill(_ path: String, _ count: Int) throws {
    let connection = try BenchTable.bare(path, synchronous: "OFF")
    try connection.transaction(.immediate) {
      for number in 0..<count { try connection.statement(BenchTable.insert).run(BenchTable.values(number)) }
    }
  }

  private static func sync(
    _ files: ServerFiles, _ server: ServerProcess, _ folder: String, _ count: Int
  ) async throws -> Double {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let replica = try await Replica.open(in: folder, account: BenchTable.account, schema: BenchTable.schema)
    try await replica.withConnection { try $0.execute(BenchTable.index) }
    let token = try files.token(BenchTable.account.text)
    let transport = try HTTPTransport(baseURL: server.address, now: { SystemAmbient().now() }, token: { token })
    let engine = SyncEngine(replica, transport: transport)
    let time = try await seconds { try await engine.syncOnce(within: .seconds(600)) }
    let rows = try await replica.read("SELECT count(*) AS n FROM visits").first?["n"]
    guard rows == .integer(Int64(count)) else {
      throw ProcessError("\(count) rows were to come, \(rows ?? nil) are here")
    }
    return time
  }

  private static func insert(_ path: String, _ count: Int) async throws -> Double {
    let connection = try BenchTable.bare(path)
    try connection.execute(BenchTable.index)
    return try await seconds {
      try connection.transaction(.immediate) {
        for number in 0..<count { try connection.statement(BenchTable.insert).run(BenchTable.values(number)) }
      }
    }
  }
}
