// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryHTTPKit
import SkerryModel
import SkerryWire

/// `skerry device`: a real device as a process, told what to do over HTTP on the loopback address.
struct DeviceCommand {
  private let setup: Device.Setup
  private let port: Int
  private let runs: Bool
  private let endsWithInput: Bool

  init(_ words: [String]) throws {
    let arguments = try Arguments(
      words, options: ["folder", "account", "schema", "server", "token-file", "control", "seed", "stop-at"],
      flags: ["run", "until-eof"])
    setup = Device.Setup(
      folder: try arguments.text("folder"), account: AccountID(try arguments.text("account")),
      schema: try CommandLineTool.schema(arguments.text("schema")), server: arguments["server"],
      tokenFile: arguments["token-file"], seed: UInt64(bitPattern: Int64(try arguments.number("seed", or: 1))),
      stopPoint: try arguments["stop-at"].map { text throws(UsageError) in
        try StopPoint(text, of: StopPoint.Name.device)
      })
    port = try arguments.number("control", or: 0, in: 0...65_535)
    runs = arguments.has("run")
    endsWithInput = arguments.has("until-eof")
    if setup.server != nil, setup.tokenFile == nil { throw UsageError(description: "--server needs --token-file") }
    if runs, setup.server == nil { throw UsageError(description: "--run needs --server") }
  }

  func run() async throws -> Int32 {
    try NewFile.folder(setup.folder)
    let device = try await Device(setup)
    let ambient = SystemAmbient()
    let key = ambient.makeReplicaID().text
    let end = EndOfProcess()
    let control = try HTTPServer.start(
      port: port, threads: 8, routes: DeviceControl(device: device, key: key, quit: { end.ask() }).routes)
    if runs { _ = try await device.run(["on": true]) }
    let greeting: JSON = [
      "control": .string("http://127.0.0.1:\(control.port)"), "key": .string(key),
      "pending": .init(try await device.pending()),
    ]
    Output.line(String(decoding: greeting.encoded, as: UTF8.self))
    if endsWithInput { end.askAtEndOfInput() }
    await end.wait()
    await device.shutDown()
    return control.stop() ? 0 : 3
  }
}
