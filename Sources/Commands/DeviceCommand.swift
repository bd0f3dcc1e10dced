// SPDX-License-Identifier: Apache-2.0

import Foundation
import Skerry
import SkerryAmbientKit
import SkerryHTTP
import SkerryModel
import SkerryStore

/// `skerry device`: a device as a process. It takes orders from standard input, a line each, and answers each with a line
/// that begins with `ok` or `error`.
struct DeviceCommand {
  private let folder: String
  private let account: AccountID
  private let schema: Schema
  private let server: String?
  private let tokenFile: String?

  init(_ words: [String]) throws {
    let arguments = try Arguments(words, options: ["folder", "account", "schema", "server", "token-file"])
    folder = try arguments.text("folder")
    account = AccountID(try arguments.text("account"))
    schema = try CommandLineTool.schema(arguments.text("schema"))
    server = arguments["server"]
    tokenFile = arguments["token-file"]
    if server != nil, tokenFile == nil { throw UsageError(description: "--server needs --token-file") }
  }

  func run() async throws -> Int32 {
    let replica = try await Replica.open(in: folder, account: account, schema: schema)
    let engine = try engine(for: replica)
    Output.line("ok open, \(try await replica.facts().pending) waiting")
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      if words.first == "quit" { break }
      do { Output.line("ok " + (try await carryOut(words, replica, engine))) } catch { Output.line("error \(error)") }
    }
    return 0
  }

  private func engine(for replica: Replica) throws -> SyncEngine? {
    guard let server, let tokenFile else { return nil }
    let transport = try HTTPTransport(
      baseURL: server, now: { SystemAmbient().now() },
      token: {
        let text = try String(contentsOfFile: tokenFile, encoding: .utf8)
        return text.split(separator: "\n").first.map(String.init) ?? ""
      }
    )
    return SyncEngine(replica, transport: transport)
  }

  private func carryOut(_ words: [String], _ replica: Replica, _ engine: SyncEngine?) async throws -> String {
    switch (words.first, words.count) {
    case ("help", _): return "import FOLDER TEAM [N] · sync · set|add|get|delete TABLE ID … · waiting · refused · quit"
    case ("import", 3...4):
      let limit = words.count == 4 ? Int(words[3]) : nil
      let done = try await ContactsImport(folder: words[1], team: words[2]).run(replica, limit: limit) {
        Output.line("progress \($0) acknowledged")
      }
      return "imported \(done)"
    case ("sync", 1): return try await sync(replica, engine)
    case ("set", 5...):
      let value = Value.text(words[4...].joined(separator: " "))
      try await replica.write("set") { tx in try tx.update(RowKey(words[1], .text(words[2])), [words[3]: value]) }
      return "set"
    case ("add", 5):
      guard let amount = Int64(words[4]) else { throw UsageError(description: "a number is needed") }
      try await replica.write("add") { tx in
        try tx.increment(RowKey(words[1], .text(words[2])), words[3], by: amount)
      }
      return "added"
    case ("delete", 3):
      try await replica.write("delete") { tx in try tx.delete(RowKey(words[1], .text(words[2]))) }
      return "deleted"
    case ("get", 4): return try await get(words[1], words[2], words[3], replica)
    case ("waiting", 1): return "\(try await replica.facts().pending)"
    case ("refused", 1): return try await replica.rejections().map { $0.reason ?? "no reason" }.joined(separator: "; ")
    default: throw UsageError(description: "no such order; try 'help'")
    }
  }

  private func get(_ table: String, _ id: String, _ column: String, _ replica: Replica) async throws -> String {
    // The names are held against the schema, so nothing is pasted that is not a name.
    guard let definition = schema.features.flatMap(\.tables).first(where: { $0.name == table }),
      definition.columns.contains(where: { $0.name == column })
    else { throw UsageError(description: "no column \(table).\(column)") }
    let rows = try await replica.read("SELECT \"\(column)\" FROM \"\(table)\" WHERE id = ?", [.text(id)])
    switch rows.first?.values.first {
    case .text(let text)?: return text
    case .integer(let number)?: return "\(number)"
    case .real(let number)?: return "\(number)"
    case .blob?: return "(bytes)"
    case .null?: return "(null)"
    case nil: return "(no row)"
    }
  }

  /// One round; a second one is not needed, since a round ends only where the server has nothing more.
  private func sync(_ replica: Replica, _ engine: SyncEngine?) async throws -> String {
    guard let engine else { throw UsageError(description: "the device was started without --server") }
    let report = try await engine.syncOnce(within: .seconds(60))
    guard report.isConsistent, report.failures == 0 else {
      throw UsageError(description: "not in step: \(await engine.condition())")
    }
    let facts = try await replica.facts()
    return
      "pushed \(report.pushed), pulled \(report.pulled), waiting \(facts.pending), mismatches \(facts.digestMismatches)"
  }
}
