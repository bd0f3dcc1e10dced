// SPDX-License-Identifier: Apache-2.0

import Foundation
import Skerry
import SkerryAmbientKit
import SkerryHTTP
import SkerryMachine
import SkerryModel
package import SkerryWire

/// `skerry device` as a child, spoken to over its control interface.
package final class DeviceProcess: Sendable {
  /// How a device is started.
  package struct Options: Sendable {
    /// The server's address; nil for a device without one.
    package var server: String?
    /// Whether the engine's loop runs from the start.
    package var runs = false
    package var seed = 1
    /// Its folder below the server's; nil for one of the account's name.
    package var folder: String?
    /// See `docs/device.md`.
    package var stopAt: String?
    /// The path of `skerry`; nil for the program that runs now.
    package var program: String?

    package init(
      server: String? = nil, runs: Bool = false, seed: Int = 1, folder: String? = nil, stopAt: String? = nil,
      program: String? = nil
    ) {
      self.server = server
      self.runs = runs
      self.seed = seed
      self.folder = folder
      self.stopAt = stopAt
      self.program = program
    }
  }

  /// The child. Only the thread that made it may use it.
  package nonisolated(unsafe) let process: ChildProcess
  /// How many mutations waited when it opened its file.
  package let pending: Int
  private let control: HTTPTransport

  /// Starts it on its own folder below the server's, and waits until it takes orders.
  package init(_ files: ServerFiles, account: String, _ options: Options) throws {
    let home = files.folder + "/" + (options.folder ?? account)
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    var arguments = [
      "device", "--folder", home, "--account", account, "--schema", files.schema, "--seed", "\(options.seed)",
      "--until-eof",
    ]
    if let server = options.server {
      let tokenFile = home + "/token"
      try Data(files.token(account).utf8).write(to: URL(fileURLWithPath: tokenFile))
      arguments += ["--server", server, "--token-file", tokenFile]
      if options.runs { arguments.append("--run") }
    }
    if let point = options.stopAt { arguments += ["--stop-at", point] }
    process = try ChildProcess(arguments, program: options.program)
    let line = try process.line()
    guard let greeting = try? JSON(parsing: Array(line.utf8)), case .string(let address)? = greeting["control"],
      case .string(let key)? = greeting["key"], case .integer(let pending)? = greeting["pending"]
    else { throw ProcessError("the device said: \(line)") }
    self.pending = Int(pending)
    control = try HTTPTransport(baseURL: address, now: { SystemAmbient().now() }, token: { key })
  }

  /// The account's file, for whoever looks at it when the process has ended.
  package static func file(_ files: ServerFiles, _ account: String, folder: String? = nil) -> String {
    files.folder + "/\(folder ?? account)/" + Replica.fileName(of: AccountID(account))
  }

  /// Gives an order and waits for what comes of it.
  ///
  /// - Throws: `ProcessError` with the device's reason, or `TransportError` when it died meanwhile.
  @discardableResult
  package func order(_ path: String, _ message: JSON = .object([])) async throws -> JSON {
    let response = try await control.exchange(
      TransportRequest(path: path, contentType: "application/json", body: message.encoded))
    let answer = try JSON(parsing: response.body)
    if response.status != 200 {
      if case .string(let detail)? = answer["detail"] {
        throw ProcessError("\(path): \(detail)", status: response.status)
      }
      throw ProcessError("\(path): status \(response.status)", status: response.status)
    }
    return answer
  }

  /// The rows of one SELECT.
  package func rows(_ sql: String, _ values: [JSON] = []) async throws -> [[JSON]] {
    let answer = try await order("/read", ["sql": .string(sql), "values": .array(values)])
    guard case .array(let rows)? = answer["rows"] else { throw ProcessError("no rows in the answer") }
    return rows.compactMap { if case .array(let row) = $0 { row } else { nil } }
  }
}
