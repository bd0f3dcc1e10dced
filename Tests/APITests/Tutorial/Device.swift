// SPDX-License-Identifier: Apache-2.0

import Foundation
import Skerry
import SkerryHTTP

/// The app on one device, with an engine that knows the way to the server.
struct Device {
  let app: TodoApp
  let engine: SyncEngine

  init(folder: String, account: AccountID, server: String, token: String) async throws {
    app = try await TodoApp(folder: folder, account: account)
    let now = { @Sendable in Int64(Date().timeIntervalSince1970 * 1_000) }
    let transport = try HTTPTransport(baseURL: server, now: now) { token }
    engine = SyncEngine(app.replica, transport: transport)
  }
}

extension Device {
  /// Syncs for as long as the app shows the list: after each change here, and now and then for those of others.
  func show(_ list: RowID<TodoList>, _ show: ([Tracked<Todo>]) -> Bool) async throws {
    // Leaving cancels it. Only a broken file ends it earlier, and `watch` throws then as well.
    async let _: Void = engine.run()
    try await app.watch(list, show: show)
  }

  /// One bounded round.
  @discardableResult
  func sync() async throws -> SyncReport { try await engine.syncOnce(within: .seconds(20)) }
}
