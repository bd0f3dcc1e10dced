// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import SkerryServer
import SkerryTokenKit

/// `skerry serve`: a server until it is told to end (SIGINT, SIGTERM).
struct ServeCommand {
  private let configuration: Server.Configuration

  init(_ words: [String]) throws {
    let arguments = try Arguments(words, options: ["database", "schema", "secret-file", "host", "port"])
    let key = try TokenKey.hs256(secret: CommandLineTool.secret(arguments.text("secret-file")))
    var configuration = Server.Configuration(
      schema: try CommandLineTool.schema(arguments.text("schema")), database: try arguments.text("database"),
      keys: [key])
    configuration.host = arguments["host"] ?? configuration.host
    configuration.port = try arguments.number("port", or: 0)
    self.configuration = configuration
  }

  func run() throws -> Int32 {
    // Told to end by a signal; the default would end the process in the middle of an answer.
    let ended = DispatchSemaphore(value: 0)
    let sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { ended.signal() }
      source.resume()
      return source
    }
    let server = try Server.start(configuration)
    Output.line("listening on \(configuration.host):\(server.port)")
    ended.wait()
    for source in sources { source.cancel() }
    return server.stop() ? 0 : 3
  }
}
