// SPDX-License-Identifier: Apache-2.0

import Foundation
import Skerry
import SkerryAmbientKit
import SkerryModel
import SkerrySQLiteKit
import SkerryStore

/// `skerry import`: rows of a file into a device's store, by adoption. It can be killed at any point and called again.
package struct ImportCommand {
  private let file: String
  private let store: String
  private let account: AccountID
  private let catalog: Catalog
  private let table: TableInfo
  private let mode: AdoptionMode
  private let name: String
  private let source: String
  private let skipped: Set<String>

  package init(_ words: [String]) throws {
    let arguments = try Arguments(
      words, words: ["FILE"],
      options: ["database", "account", "schema", "table", "as", "batch", "name", "from", "skip"])
    file = arguments.words[0]
    store = try arguments.text("database")
    account = AccountID(try arguments.text("account"))
    catalog = try Catalog(CommandLineTool.schema(arguments.text("schema")))
    let wanted = try arguments.text("table")
    guard let table = catalog.table(wanted) ?? catalog.localTable(wanted) else {
      let names = (catalog.tables + catalog.localTables).map(\.name).joined(separator: ", ")
      throw UsageError(description: "the schema has no table '\(wanted)'; it has \(names)")
    }
    self.table = table
    let batch = try arguments.number("batch", or: 100, in: 1...Limits.operations)
    switch arguments["as"] ?? "unsent" {
    case "unsent": mode = .unsent(batch: batch)
    case "on-server": mode = .alreadyOnServer
    case let other: throw UsageError(description: "--as is unsent or on-server, '\(other)' found")
    }
    name = arguments["name"] ?? "import \(URL(fileURLWithPath: file).lastPathComponent) \(table.name)"
    source = arguments["from"] ?? table.name
    skipped = Set((arguments["skip"] ?? "").split(separator: ",").map(String.init))
  }

  /// - Parameter tell: takes a line of progress.
  package func run(_ tell: (String) -> Void) async throws {
    try checkStore()
    // The whole file first: what is wrong with it is told before anything is written.
    let maker = ImportTable(table, catalog, file, skipping: skipped)
    let rows = try ImportSource.rows(file, table: source).map { (line: $0.line, insert: try maker.insert($0)) }
    let replica = try await Replica.open(
      path: store, account: account, schema: catalog.schema, ambient: SystemAmbient())
    do {
      let result = try await replica.adopt(rows.lazy.map(\.insert), of: table.name, as: mode, name: name) {
        tell("\(table.name): \($0.rows) of \(rows.count) rows")
      }
      tell(text(result, of: rows.count))
    } catch let error as AdoptionError {
      throw ImportError(file, line: rows[error.row - 1].line, error.cause.description)
    }
  }

  private func text(_ result: Adoption, of count: Int) -> String {
    if result.wasDone { return "\(table.name): '\(name)' was imported before; give another --name to import again" }
    let parts = [
      (result.added, "added"), (result.unchanged, "here already"),
      (result.differing, "here with other values or deleted since, left as they are"),
      (result.resumed, "done by an earlier call"), (result.late, "not on the server, left out"),
    ]
    let told = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return "\(table.name): " + (told.isEmpty ? "no rows" : told.joined(separator: ", "))
  }

  /// A file that is there must be a device's.
  private func checkStore() throws {
    guard FileManager.default.fileExists(atPath: store) else { return }
    let isDevice = try StoreFile.read(store) { $0.kind == .device }
    if !isDevice {
      throw FileError(
        store, "this is a server's database, whose tables are ordinary ones",
        "insert the rows with SQL (see 'skerry import --help')")
    }
  }
}
