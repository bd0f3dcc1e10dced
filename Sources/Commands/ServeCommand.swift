// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryHTTPKit
import SkerryServer
import SkerryTokenKit

/// `skerry serve`: a server until it is told to end (SIGINT, SIGTERM).
struct ServeCommand {
  private let configuration: Server.Configuration
  private let stopPoint: StopPoint?
  private let endsWithInput: Bool

  init(_ words: [String]) throws {
    let arguments = try Arguments(
      words,
      options: [
        "database", "schema", "earlier", "secret-file", "public-key-file", "public-key-id", "issuer", "audience",
        "host", "port",
        "threads", "stop-at",
      ], flags: ["until-eof"])
    var configuration = Server.Configuration(
      schema: try CommandLineTool.schema(arguments.text("schema")), database: try arguments.text("database"),
      keys: try ServeCommand.keys(arguments))
    configuration.earlier = try (arguments["earlier"] ?? "").split(separator: ",").map {
      try CommandLineTool.schema(String($0))
    }
    configuration.issuer = arguments["issuer"] ?? configuration.issuer
    configuration.audience = arguments["audience"] ?? configuration.audience
    configuration.host = arguments["host"] ?? configuration.host
    configuration.port = try arguments.number("port", or: 0, in: 0...65_535)
    configuration.threads = try arguments.number("threads", or: configuration.threads, in: 1...256)
    configuration.log = { Output.error("skerry serve: \($0)") }
    self.configuration = configuration
    stopPoint = try arguments["stop-at"].map { text throws(UsageError) in try StopPoint(text, of: StopPoint.Name.server)
    }
    endsWithInput = arguments.has("until-eof")
  }

  /// The keys that tokens may be signed with: a secret (HS256), a public key (ES256), or one of each.
  private static func keys(_ arguments: Arguments) throws -> [TokenKey] {
    var keys: [TokenKey] = []
    if let file = arguments["secret-file"] { keys.append(try .hs256(secret: OldFile.bytes(file))) }
    if let file = arguments["public-key-file"] {
      if !keys.isEmpty, arguments["public-key-id"] == nil {
        throw UsageError(description: "with a secret and a public key, --public-key-id tells which tokens are whose")
      }
      let pem = try OldFile.text(file)
      keys.append(try .es256(id: arguments["public-key-id"], publicKeyPEM: pem))
    }
    if keys.isEmpty { throw UsageError(description: "--secret-file or --public-key-file is needed") }
    return keys
  }

  func run() async throws -> Int32 {
    let end = EndOfProcess()
    let server: Server
    do { server = try Server.start(configuration, observer: observer) } catch HTTPServerError.badAddress {
      throw UsageError(description: "--host wants a numeric address, '\(configuration.host)' found")
    }
    Output.line("listening on \(configuration.host):\(server.port)")
    if endsWithInput { end.askAtEndOfInput() }
    await end.wait()
    return server.stop() ? 0 : 3
  }

  private var observer: Server.Observer {
    guard let stopPoint else { return Server.Observer() }
    return Server.Observer(
      onStatement: { stopPoint.pass(statement: $0) }, onPushed: { stopPoint.pass(.answer) })
  }
}
