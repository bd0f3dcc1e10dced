// SPDX-License-Identifier: Apache-2.0

import Foundation
import Skerry
import SkerryAmbientKit
import SkerryModel
import SkerrySQLiteKit
import SkerryTokenKit

/// `skerry demo`: the main job on real input. A server and two devices as processes; one of them is killed while it imports,
/// both edit, and at the end all three files are scanned and compared.
struct DemoCommand {
  private let data: String
  private let keepsFiles: Bool
  private let isSabotaged: Bool

  init(_ words: [String]) throws {
    let arguments = try Arguments(words, options: ["data"], flags: ["keep", "sabotage"])
    data = arguments["data"] ?? "Examples/Contacts"
    keepsFiles = arguments.has("keep")
    isSabotaged = arguments.has("sabotage")
  }

  func run() async throws -> Int32 {
    let stage = try DemoStage(data: data)
    defer { if !keepsFiles { stage.remove() } }
    let isEqual = try DemoStory(stage, isSabotaged: isSabotaged).run()
    Output.line(isEqual ? "All three hold the same rows." : "They differ: the check has failed.")
    if keepsFiles { Output.line("Files: \(stage.folder)") }
    return isEqual ? 0 : 1
  }
}

/// The files and processes of a demonstration.
struct DemoStage {
  static let team = "capitol"
  let folder: String
  let data: String
  let schemaFile: String
  let schema: Schema
  private let secretFile: String
  private let secret: [UInt8]

  init(data: String) throws {
    self.data = data
    let ambient = SystemAmbient()
    let name = "skerry-demo-" + String(ambient.random(), radix: 16)
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    schemaFile = data + "/schema.json"
    schema = try CommandLineTool.schema(schemaFile)
    secret = (0..<32).map { _ in UInt8(truncatingIfNeeded: ambient.random()) }
    secretFile = folder + "/secret"
    try Data(secret).write(to: URL(fileURLWithPath: secretFile))
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }

  var serverFile: String { folder + "/server.db" }

  func deviceFile(_ account: String) -> String { folder + "/\(account)/" + Replica.fileName(of: AccountID(account)) }

  /// Starts the server on its database.
  ///
  /// - Returns: the process and its address.
  func startServer() throws -> (ChildProcess, String) {
    let process = try ChildProcess(
      ["serve", "--database", serverFile, "--schema", schemaFile, "--secret-file", secretFile])
    let line = try process.line()
    guard let address = line.split(separator: " ").last, line.hasPrefix("listening on ") else {
      throw DemoError(description: "the server said: \(line)")
    }
    return (process, "http://\(address)")
  }

  /// Starts a device on its own folder; without a server it is offline.
  ///
  /// - Returns: the process, and what it says of itself.
  func startDevice(_ account: String, server: String?) throws -> (ChildProcess, String) {
    let home = folder + "/" + account
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    var arguments = ["device", "--folder", home, "--account", account, "--schema", schemaFile]
    if let server {
      let tokenFile = home + "/token"
      let token = try TokenCommand.token(account, secret: secret, hours: 1)
      try Data(token.utf8).write(to: URL(fileURLWithPath: tokenFile))
      arguments += ["--server", server, "--token-file", tokenFile]
    }
    let process = try ChildProcess(arguments)
    return (process, try process.line())
  }
}
