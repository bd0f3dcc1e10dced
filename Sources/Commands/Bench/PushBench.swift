// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryAmbientKit
import SkerryHTTP
import SkerryModel
import SkerrySQLiteKit
import SkerryServer
import SkerryTokenKit

/// 10,000 one-row mutations from a device's outbox over real HTTP into the server and their receipts back, against as many
/// bare one-row transactions of the same durability.
enum PushBench {
  static func run(_ scale: BenchScale) async throws {
    let count = scale.count(10_000)
    var result = BenchResult(
      bench: "push", name: "\(count) one-row mutations", ours: [], bare: [], better: .lower, aim: 1.5, unit: "seconds")
    for _ in 0..<scale.runs {
      try await scale.withFolder { folder in
        result.ours.append(try await push(count, folder))
        let bare = try BenchTable.bare(folder + "/bare.db")
        result.bare.append(
          try await seconds {
            for number in 0..<count {
              _ = try bare.transaction(.immediate) {
                try bare.statement(BenchTable.insert).run(BenchTable.values(number))
              }
            }
          })
      }
    }
    result.print()
  }

  private static func push(_ count: Int, _ folder: String) async throws -> Double {
    let server = try BenchServer(folder)
    defer { server.server.stop() }
    let replica = try await Replica.open(in: folder, account: BenchTable.account, schema: BenchTable.schema)
    try await replica.withConnection { try $0.execute("PRAGMA synchronous = OFF") }
    for number in 0..<count {
      let row = BenchTable.row(number)
      try await replica.write { tx in try tx.insert("visits", row) }
    }
    try await replica.withConnection { try $0.execute("PRAGMA synchronous = FULL") }
    let engine = SyncEngine(replica, transport: try server.transport())
    let time = try await seconds { try await engine.syncOnce(within: .seconds(600)) }
    guard try await replica.facts().pending == 0 else { throw ProcessError("the push did not come to an end") }
    return time
  }
}

/// A server in this process, on a database in a folder.
struct BenchServer {
  let server: Server
  private let secret: [UInt8]

  init(_ folder: String) throws {
    secret = TokenCommand.makeSecret()
    server = try Server.start(
      Server.Configuration(
        schema: BenchTable.schema, database: folder + "/server.db", keys: [try .hs256(secret: secret)]))
  }

  func transport() throws -> HTTPTransport {
    let token = try token()
    return try HTTPTransport(
      baseURL: "http://127.0.0.1:\(server.port)", now: { SystemAmbient().now() }, token: { token })
  }

  func token() throws -> String { try TokenCommand.token(BenchTable.account.text, secret: secret, hours: 1) }
}
