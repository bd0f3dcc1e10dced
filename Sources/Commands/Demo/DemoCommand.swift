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
      guard let chance = Double(drop), 0...0.8 ~= chance else {
        throw UsageError(
          description: "--drop wants the probability of each message to be lost, 0 to 0.8; '\(drop)' found")
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
  /// The probability with which each message is lost, request or answer.
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
  private let folder: DemoFolder

  init(_ options: DemoOptions) throws {
    data = options.data
    let schemaFile = data + "/schema.json"
    schema = try CommandLineTool.schema(schemaFile)
    folder = try DemoFolder(options.folder)
    files = try ServerFiles(folder: folder.path, schema: schemaFile)
  }

  func deviceFile(_ account: String) -> String { DeviceProcess.file(files, account) }

  func tellWhatToTry() {
    let skerry = ChildProcess.ownProgram
    Output.line(
      """

      The app code that you just ran is \(contactsImportLines) lines: \(data)/ContactsImport.swift. No line of it is about syncing.
      Try next, from here:
        sqlite3 \(deviceFile("ben")) 'SELECT first, last, phone, visits FROM people LIMIT 5'
        \(skerry) inspect \(deviceFile("ana"))
        \(skerry) explain \(deviceFile("ana")) people C000127 --schema \(files.schema)
        \(skerry) demo --drop 0.3 --seed 7        (break it yourself: a third of all messages is lost)
        \(skerry) demo --sabotage                 (skips one row; the comparison must find it)
      or talk to the server as any other client would:
        \(skerry) serve --database \(files.database) --schema \(files.schema) --secret-file \(files.folder)/secret --port 8080 &
        curl -s http://127.0.0.1:8080/v1/pull -H 'Content-Type: application/json' \\
          -H "Authorization: Bearer $(\(skerry) token --account ana --secret-file \(files.folder)/secret)" \\
          -d '{"protocol":3,"schema":{"name":"contacts","version":1},"replicas":["me"],"cursor":null,"settled":0,"limit":10}'
      """)
  }
}
