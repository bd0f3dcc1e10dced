// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit
import SkerryCommands
import SkerryModel
import SkerrySQLiteKit

/// The processes of one run and their files: starts them, ends them, kills them.
///
/// It has a queue of its own, since starting and killing block.
actor Stage {
  /// Two accounts, one of them with two devices.
  static let devices = [
    (account: "ana", folder: "phone"), (account: "ana", folder: "tablet"), (account: "ben", folder: "desk"),
  ]

  nonisolated let files: ServerFiles
  nonisolated let schema: Schema
  nonisolated let seats = Stage.devices.map { _ in Seat() }
  private nonisolated let executor = SerialQueueExecutor(label: "skerry.kill")
  private let program: String
  private var random: SeededGenerator
  private var port = 0
  private var server: ServerProcess?
  private var devices: [DeviceProcess?] = Stage.devices.map { _ in nil }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// - Parameter folder: an existing one, for all files.
  init(folder: String, seed: UInt64) throws {
    let schemaFile = Stage.root + "/Examples/Contacts/schema.json"
    schema = try CommandLineTool.schema(schemaFile)
    files = try ServerFiles(folder: folder, schema: schemaFile)
    program = try Stage.findProgram()
    random = SeededGenerator(seed: seed)
  }

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// The real `skerry`, built together with these tests: it lies where the program lies that runs them.
  static func findProgram() throws -> String {
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let places = [own, CommandLine.arguments.first].compactMap { $0 } + Bundle.allBundles.map(\.bundlePath)
    for place in places {
      var folder = URL(fileURLWithPath: place)
      for _ in 0..<5 {
        folder.deleteLastPathComponent()
        let path = folder.appendingPathComponent("skerry").path
        if FileManager.default.isExecutableFile(atPath: path), !isFolder(path) { return path }
      }
    }
    throw ProcessError("the program 'skerry' lies nowhere near \(places)")
  }

  private static func isFolder(_ path: String) -> Bool {
    (try? URL(fileURLWithPath: path).resourceValues(forKeys: [.isDirectoryKey]).isDirectory) ?? false
  }

  nonisolated func file(of victim: Victim) -> String {
    switch victim {
    case .server: files.database
    case .device(let index):
      DeviceProcess.file(files, Stage.devices[index].account, folder: Stage.devices[index].folder)
    }
  }

  // MARK: Starting

  /// Starts a process; the load finds a device when it has one.
  ///
  /// - Parameter runs: for a device, whether its engine's loop is on.
  /// - Returns: for a device, how many mutations waited in its file by its own account.
  @discardableResult
  func start(_ victim: Victim, stopAt point: String? = nil, runs: Bool = true) throws -> Int {
    switch victim {
    case .server:
      try startServer(point)
      return 0
    case .device(let index):
      guard let server else { throw ProcessError("a device needs a server's address") }
      let (account, folder) = Stage.devices[index]
      let device = try DeviceProcess(
        files, account: account,
        .init(
          server: server.address, runs: runs, seed: Int(truncatingIfNeeded: random.next() >> 1), folder: folder,
          stopAt: point, program: program))
      devices[index] = device
      seats[index].seat(device)
      return device.pending
    }
  }

  /// A server that follows another one listens where that one did. The first port is looked for below those that the system
  /// gives to whoever asks for any: nobody takes it while the server is dead.
  private func startServer(_ point: String?) throws {
    for _ in 0..<40 where port == 0 {
      let candidate = Int.random(in: 20_000..<30_000, using: &random)
      guard let first = try? ServerProcess(files, port: candidate, stopAt: point, program: program) else { continue }
      port = candidate
      server = first
      return
    }
    server = try ServerProcess(files, port: port, stopAt: point, program: program)
  }

  /// A device's process, for orders beside the load.
  func device(_ index: Int) throws -> DeviceProcess {
    guard let device = devices[index] else { throw ProcessError("nobody is at \(Victim.device(index))") }
    return device
  }

  // MARK: Ending

  /// `kill -9`.
  ///
  /// - Throws: when the process had ended by itself.
  func kill(_ victim: Victim) throws {
    let process = try leave(victim)
    guard process.isRunning else { throw ProcessError("\(victim) had ended before it was killed") }
    process.kill()
  }

  /// Ends it in order.
  ///
  /// - Throws: when it says that something was cut off, or that it failed.
  func end(_ victim: Victim) throws {
    let code = try leave(victim).end()
    if code != 0 { throw ProcessError("\(victim) ended with exit code \(code)") }
  }

  /// Whoever is left goes, whatever state it is in.
  func killAll() {
    for victim in [Victim.server] + Stage.devices.indices.map(Victim.device) { (try? leave(victim))?.kill() }
  }

  /// Nobody expects anything from the process any more.
  private func leave(_ victim: Victim) throws -> ChildProcess {
    let process = try process(of: victim)
    if case .device(let index) = victim { seats[index].vacate() }
    return process
  }

  private func process(of victim: Victim) throws -> ChildProcess {
    switch victim {
    case .server:
      guard let server else { throw ProcessError("there is no server") }
      return server.process
    case .device(let index): return try device(index).process
    }
  }

  /// Waits until the process has stopped itself.
  ///
  /// - Parameter isWorthIt: asked again and again; false gives up.
  /// - Returns: whether it has stopped.
  /// - Throws: when it ended instead.
  func waitUntilStopped(_ victim: Victim, while isWorthIt: @Sendable () -> Bool) async throws -> Bool {
    let process = try process(of: victim)
    while !process.isStopped {
      if !process.isRunning { throw ProcessError("\(victim) ended instead of stopping") }
      if !isWorthIt() || Task.isCancelled { return false }
      try await SystemAmbient.clock.sleep(for: .milliseconds(2))
    }
    return true
  }
}
