// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryHTTPKit
public import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageSQLite
public import SkerryTokenKit

/// A Skerry server over HTTP, beside the app's own tables in one SQLite file.
///
/// `POST /v1/push` and `POST /v1/pull` want a bearer token, whose subject is the account; `GET /healthz` tells whether the
/// server is up. Errors are problem details (RFC 9457).
public final class Server: Sendable {
  /// What a server is started with.
  public struct Configuration: Sendable {
    /// What the app declares. Devices of earlier versions that the database was served by are served too, in the words of their
    /// version; those of others are refused with what is to be updated, and keep their work.
    public var schema: Schema
    /// Earlier versions of which devices may come though the database was never served by them, as when it is new.
    public var earlier: [Schema] = []
    /// The database file; it and what is missing in it are made.
    public var database: String
    /// The keys that tokens may be signed with.
    public var keys: [TokenKey]
    /// The `iss` that tokens must have.
    public var issuer: String
    /// The `aud` that tokens must name.
    public var audience: String
    /// A numeric address to listen on.
    public var host = "127.0.0.1"
    /// 0 for any free port.
    public var port = 0
    /// How many requests are worked on at one time.
    public var threads = 4
    /// Told a line of each failure: no tokens, no values of rows. It is called on the server's threads and must not block.
    public var log: @Sendable (String) -> Void = { _ in }

    /// What a server is started with.
    public init(
      schema: Schema, database: String, keys: [TokenKey], issuer: String = "skerry", audience: String = "skerry"
    ) {
      self.schema = schema
      self.database = database
      self.keys = keys
      self.issuer = issuer
      self.audience = audience
    }
  }

  /// What is told of the work while it is done, for tests of death.
  package struct Observer: Sendable {
    /// Called before each statement of the writing connection.
    package var onStatement: (@Sendable (String) -> Void)?
    /// Called between the transaction of a push and its answer.
    package var onPushed: (@Sendable () -> Void)?

    package init(onStatement: (@Sendable (String) -> Void)? = nil, onPushed: (@Sendable () -> Void)? = nil) {
      self.onStatement = onStatement
      self.onPushed = onPushed
    }
  }

  private let http: HTTPServer

  /// The port that it listens on.
  public var port: Int { http.port }

  private init(_ http: HTTPServer) { self.http = http }

  /// Opens the database and starts to listen; when this returns, requests are answered.
  ///
  /// - Throws: `SchemaError`; an error of the database, the keys or the socket. Nothing listens then.
  public static func start(_ configuration: Configuration) throws -> Server {
    try start(configuration, observer: Observer())
  }

  package static func start(_ configuration: Configuration, observer: Observer) throws -> Server {
    let (catalog, log) = (try Catalog(configuration.schema), configuration.log)
    let ambient = SystemAmbient()
    let storage = try SQLiteStorage(
      path: configuration.database, catalog: catalog, earlier: configuration.earlier, ambient: ambient)
    if let onStatement = observer.onStatement { storage.withWriter { $0.monitor = { onStatement($0) } } }
    let verifier = try TokenVerifier(
      keys: configuration.keys, issuer: configuration.issuer, audience: configuration.audience)
    let endpoint = Endpoint(SyncServer(catalog: catalog, storage: storage, ambient: ambient)) {
      log("a request failed: \($0)")
    }
    let gate = TokenGate(tokens: TokenCache(verifier), now: { ambient.now() })
    var limits = HTTPLimits()
    limits.bodyBytes = Limits.messageBytes
    return Server(
      try HTTPServer.start(
        host: configuration.host, port: configuration.port, threads: configuration.threads, limits: limits,
        routes: Routes(endpoint: endpoint, gate: gate, onPushed: observer.onPushed).all, report: { log($0.description) }
      ))
  }

  /// Finishes what is under way, refuses what is new, and closes; blocks for some seconds at most.
  ///
  /// - Returns: false if something was cut off; the devices will send it again.
  @discardableResult
  public func stop() -> Bool { http.stop() }
}
