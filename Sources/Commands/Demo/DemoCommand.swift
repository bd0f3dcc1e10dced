// SPDX-License-Identifier: Apache-2.0

import Foundation
import Skerry
import SkerryContacts
import SkerryModel

/// `skerry demo`: the main job on real input. A server and two devices as processes, lost messages and `kill -9`; at the end
/// all three files are scanned and compared.
struct DemoCommand {
  private let options: DemoOptions

  init(_ words: [String]) throws {
    let arguments = try Arguments(words, options: ["data", "folder", "seed", "drop"], flags: ["sabotage"])
    var options = DemoOptions()
    options.data = arguments["data"] ?? options.data
    options.folder = arguments["folder"]
    options.seed = try arguments.number("seed", or: 1)
    options.isSabotaged = arguments.has("sabotage")
    if let drop = arguments["drop"] {
      guard let chance = Double(drop), 0...0.9 ~= chance else {
        throw UsageError(description: "--drop wants the share of messages to lose, 0 to 0.9; '\(drop)' found")
      }
      options.drop = chance
    }
    self.options = options
  }

  func run() async throws -> Int32 {
    let stage = try DemoStage(options)
    let isEqual = try await DemoStory(stage, options).run()
    Output.line("")
    Output.line(isEqual ? "All three hold the same rows." : "They differ: the check has failed.")
    if isEqual { stage.tellWhatToTry() }
    return isEqual ? 0 : 1
  }
}

/// How a demonstration goes.
struct DemoOptions: Sendable {
  /// Where the schema and the data are.
  var data = "Examples/Contacts"
  /// Where its files go; nil for a folder of its own in the system's temporary one.
  var folder: String?
  /// Decides which messages are lost.
  var seed = 1
  /// The share of messages that are lost, half of them requests and half of them answers.
  var drop = 0.0
  /// Whether a row is skipped at the end, so that the comparison has something to find.
  var isSabotaged = false
}

/// The files of a demonstration.
struct DemoStage {
  static let team = "capitol"
  let data: String
  let files: ServerFiles
  let schema: Schema

  init(_ options: DemoOptions) throws {
    data = options.data
    let schemaFile = data + "/schema.json"
    schema = try CommandLineTool.schema(schemaFile)
    let folder = try options.folder ?? DemoStage.ownFolder()
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    if FileManager.default.fileExists(atPath: folder + "/server.db") {
      throw UsageError(description: "--folder \(folder) holds an earlier run; choose another one")
    }
    files = try ServerFiles(folder: folder, schema: schemaFile)
  }

  /// A folder that only this user can have made; what an earlier run left there goes.
  private static func ownFolder() throws -> String {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("skerry-demo-\(getuid())").path
    if let found = try? FileManager.default.attributesOfItem(atPath: path) {
      let owner = (found[.ownerAccountID] as? NSNumber)?.uint32Value
      guard found[.type] as? FileAttributeType == .typeDirectory, owner == getuid() else {
        throw UsageError(description: "\(path) is somebody else's; name another place with --folder")
      }
      try FileManager.default.removeItem(atPath: path)
    }
    return path
  }

  func deviceFile(_ account: String) -> String { DeviceProcess.file(files, account) }

  func tellWhatToTry() {
    Output.line(
      """

      The app code that you just ran is \(contactsImportLines) lines: \(data)/ContactsImport.swift. No line of it is about syncing.
      Try next, from here:
        sqlite3 \(deviceFile("ben")) 'SELECT first, last, phone, visits FROM people LIMIT 5'
        skerry inspect \(deviceFile("ana"))
        skerry explain \(deviceFile("ana")) people C000127 --schema \(files.schema)
        skerry demo --drop 0.3 --seed 7        (breaks it yourself: a third of all messages is lost)
        skerry demo --sabotage                 (skips one row; the comparison must find it)
      or talk to the server as any other client would:
        skerry serve --database \(files.database) --schema \(files.schema) --secret-file \(files.folder)/secret --port 8080 &
        curl -s http://127.0.0.1:8080/v1/pull -H 'Content-Type: application/json' \\
          -H "Authorization: Bearer $(skerry token --account ana --secret-file \(files.folder)/secret)" \\
          -d '{"protocol":1,"schema":{"name":"contacts","version":1},"replicas":["me"],"cursor":null,"settled":0,"limit":10}'
      """)
  }
}
