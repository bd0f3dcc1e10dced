// SPDX-License-Identifier: Apache-2.0

import SkerryDiskKit
package import SkerryMachine
package import SkerryModel
package import SkerrySQLiteKit
package import SkerryServerCore
package import SkerryStorageSQLite

/// The real server on a file of its own, asked without HTTP, and another program that has the file open beside it.
package final class WorldServer {
  /// The machine that the file is on, as a disk in memory knows it.
  package static let machine = "server"

  package let catalog: Catalog
  package private(set) var core: SyncServer
  package private(set) var storage: SQLiteStorage
  /// Another program's connection.
  package private(set) var foreign: SQLiteConnection
  private let place: FilePlace
  private let ambient: any Ambient
  private var endpoint: Endpoint
  private var life = 0
  private let failures = LastFailure()

  package init(_ catalog: Catalog, on place: FilePlace, ambient: any Ambient) throws {
    self.catalog = catalog
    self.place = place
    self.ambient = ambient
    storage = try WorldServer.open(catalog, place, ambient, life: 0)
    core = SyncServer(catalog: catalog, storage: storage, ambient: ambient)
    endpoint = Endpoint(core, report: failures.note)
    foreign = try WorldServer.openForeign(place, life: 0)
  }

  private static func open(
    _ catalog: Catalog, _ place: FilePlace, _ ambient: any Ambient, life: Int
  ) throws -> SQLiteStorage {
    try SQLiteStorage(
      path: place.path("server.db", on: machine, of: "server.\(life)"), catalog: catalog, ambient: ambient,
      busyTimeout: 0, readers: 1, vfs: place.vfs)
  }

  private static func openForeign(_ place: FilePlace, life: Int) throws -> SQLiteConnection {
    try SQLiteConnection(
      path: place.path("server.db", on: machine, of: "program.\(life)"), mode: .writer, busyTimeout: 0, vfs: place.vfs)
  }

  /// The server's process dies and another opens the file. On a disk in memory the old one can do nothing any more.
  package func restart() throws {
    if case .memory(let disk) = place { disk.kill(process: "server.\(life)") }
    life += 1
    storage = try WorldServer.open(catalog, place, ambient, life: life)
    core = SyncServer(catalog: catalog, storage: storage, ambient: ambient)
    endpoint = Endpoint(core, report: failures.note)
  }

  /// The machine loses power, and both programs open the file again. A disk in a folder keeps its power.
  package func losePower() throws {
    guard case .memory(let disk) = place else { return }
    disk.cutPower(of: WorldServer.machine)
    try restart()
    foreign = try WorldServer.openForeign(place, life: life)
  }

  /// The server's answer to a request.
  package func serve(_ request: TransportRequest, as user: AccountID) -> TransportResponse {
    guard let path = Endpoint.Path(rawValue: request.path) else {
      return TransportResponse(status: 404, contentType: nil, body: [])
    }
    let answer = endpoint.respond(to: path, body: request.body, as: user)
    return TransportResponse(
      status: answer.status, contentType: answer.contentType, retryAfter: answer.retryAfter.map { Int64($0) * 1_000 },
      body: answer.body)
  }

  /// What the last answer with status 500 was given for, as text; nil if there was none.
  package var failure: String? { failures.text }

  /// All rows of the app's tables as text.
  package func screen() throws -> String { try RowText.all(catalog, foreign) }
}
