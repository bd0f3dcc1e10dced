// SPDX-License-Identifier: Apache-2.0

import SkerryDiskKit
import SkerryMachine
import SkerryModel
import SkerryServerCore
import SkerryStorageSQLite
import Synchronization

/// One server process on the storage that all share.
final class ServerNode {
  let number: Int
  private(set) var label = ""
  private var life = 0
  private(set) var server: SyncServer?
  private var endpoint: Endpoint?
  let ambient: NodeAmbient
  /// What the last request was answered with 500 for.
  var failure: (any Error)?

  var name: String { "server \(number)" }
  var isUp: Bool { server != nil }

  init(_ number: Int, ambient: NodeAmbient) {
    self.number = number
    self.ambient = ambient
  }

  /// - Parameter lenses: the versions of the schema up to the one that it serves by.
  func start(on disk: MemoryDisk, _ lenses: ArraySlice<Lens>) throws {
    guard let catalog = lenses.last?.catalog else { return }
    life += 1
    label = "server\(number).\(life)"
    let path = MemoryDisk.path(process: label, machine: "server", file: "server.db")
    let storage = try SQLiteStorage(
      path: path, catalog: catalog, earlier: lenses.dropLast().map(\.schema), ambient: ambient, busyTimeout: 0,
      readers: 1, vfs: disk.vfsName)
    let server = SyncServer(catalog: catalog, storage: storage, ambient: ambient)
    self.server = server
    let box = FailureBox()
    endpoint = Endpoint(server, report: { box.note($0) })
    failures = box
  }

  private var failures = FailureBox()

  func stop() {
    server = nil
    endpoint = nil
  }

  func serve(_ request: TransportRequest, as user: AccountID) -> TransportResponse {
    guard let endpoint, let path = Endpoint.Path(rawValue: request.path) else {
      return TransportResponse(status: 404, contentType: nil, body: [])
    }
    let answer = endpoint.respond(to: path, body: request.body, as: user)
    failure = failures.take()
    return TransportResponse(
      status: answer.status, contentType: answer.contentType, retryAfter: answer.retryAfter.map { Int64($0) * 1_000 },
      body: answer.body)
  }
}

/// Keeps the error that an endpoint reports.
private final class FailureBox: Sendable {
  private let error = Mutex<(any Error)?>(nil)

  func note(_ error: any Error) { self.error.withLock { $0 = error } }

  func take() -> (any Error)? {
    error.withLock { error in
      defer { error = nil }
      return error
    }
  }
}
