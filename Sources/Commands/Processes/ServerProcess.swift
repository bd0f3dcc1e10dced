// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit
import SkerryTokenKit

/// The files of a server: its database, its schema and the secret that its tokens are signed with.
package struct ServerFiles: Sendable {
  package let folder: String
  package let schema: String
  private let secret: [UInt8]

  /// Makes a secret in an existing folder that has none.
  package init(folder: String, schema: String) throws {
    self.folder = folder
    self.schema = schema
    secret = TokenCommand.makeSecret()
    try NewFile.write(secret, to: secretFile)
  }

  package var database: String { folder + "/server.db" }
  var secretFile: String { folder + "/secret" }

  /// A token for an account, for an hour.
  package func token(_ account: String) throws -> String { try TokenCommand.token(account, secret: secret, hours: 1) }
}

/// `skerry serve` as a child.
package final class ServerProcess {
  package let process: ChildProcess
  package let port: Int

  package var address: String { "http://127.0.0.1:\(port)" }

  /// Starts it, and waits until it listens.
  ///
  /// - Parameters:
  ///   - port: 0 for any free one; the one of a server that was killed lets its devices find the next one.
  ///   - stopAt: see `docs/device.md`.
  package init(_ files: ServerFiles, port: Int = 0, stopAt: String? = nil, program: String? = nil) throws {
    var arguments = [
      "serve", "--database", files.database, "--schema", files.schema, "--secret-file", files.secretFile, "--port",
      "\(port)", "--until-eof",
    ]
    if let stopAt { arguments += ["--stop-at", stopAt] }
    process = try ChildProcess(arguments, program: program)
    let line = try process.line()
    guard line.hasPrefix("listening on "), let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
      throw ProcessError("the server said: \(line)")
    }
    self.port = port
  }
}
