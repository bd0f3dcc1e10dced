// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryDiskKit
public import SkerryMachine
public import SkerryModel
import SkerryStore
import Synchronization

/// A server and devices of an app, in one process, in virtual time, on disks in memory.
///
/// The real replica, engine, server and SQLite run in it; only clock, network, disk and randomness are replaced. One seed gives
/// the same ids and the same run each time, as long as the test does one thing after the other. Nothing of it reaches the
/// file system or the network, and nothing sleeps, so tests with a world of their own can run side by side.
///
/// End each test with `finish()`.
public final class TestWorld: Sendable {
  /// Time, which the test moves.
  public let clock: TestClock
  /// What goes wrong between devices and server.
  public let network: TestNetwork
  /// The server, and the program beside it.
  public let server: TestServer
  let parts: WorldParts
  private let seed: UInt64
  private let all = Mutex<[TestDevice]>([])

  /// Makes a server with empty tables.
  ///
  /// - Parameters:
  ///   - schema: what the app declares.
  ///   - seed: decides all ids and all that chance decides.
  ///   - policy: how the devices' engines time their rounds, and how much they put into one message.
  /// - Throws: `SchemaError`.
  public init(_ schema: Schema, seed: UInt64 = 1, policy: TimingPolicy = .standard) throws {
    let catalog = try Catalog(schema)
    let time = VirtualTime()
    let disk = MemoryDisk(seed: seed)
    disk.now = { time.now }
    let host = try WorldServer(catalog, on: .memory(disk), ambient: VirtualAmbient(seed: seed, time: time))
    let loop = WorldLoop(time)
    self.seed = seed
    clock = TestClock(loop)
    network = TestNetwork()
    server = TestServer(host)
    parts = WorldParts(
      catalog: catalog, policy: policy, time: time, loop: loop, clock: clock, disk: disk, network: network,
      server: server)
  }

  /// The devices, in the order in which they were made.
  public var devices: [TestDevice] { all.withLock { $0 } }

  /// Makes a device with an empty disk, and starts the app on it.
  ///
  /// - Parameters:
  ///   - name: what it is called in texts; any, such as "ana's phone".
  ///   - account: whose it is. An account may have several.
  /// - Throws: an error of the database.
  @discardableResult
  public func device(_ name: String, account: AccountID) throws -> TestDevice {
    try all.withLock { all in
      let number = all.count + 1
      let link = DeviceLink(name: name, number: number, account: account)
      let device = try TestDevice(link, parts, seed: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
      all.append(device)
      return device
    }
  }

  /// Rounds of all devices that have a network, until none has anything to send or to fetch. It takes a bounded number of
  /// rounds, since nobody writes, and some of the world's time if something has failed before.
  ///
  /// - Throws: `TestFailure` if the world does not come to rest; an error of a device's store or disk.
  public func settle(file: StaticString = #fileID, line: UInt = #line) async throws {
    for _ in 0..<24 {
      var (isQuiet, hasFailed) = (true, false)
      for device in devices where device.isRunning && !device.isOffline {
        let report = try await device.round()
        let pending = try await device.replica.facts().pending
        if report.pushed > 0 || report.pulled > 0 || pending > 0 || !report.isConsistent { isQuiet = false }
        if report.failures > 0 || !report.isConsistent { hasFailed = true }
      }
      if isQuiet { return }
      if hasFailed { await clock.advance(by: .minutes(10)) }
    }
    throw await failure("the world does not come to rest: after 24 rounds something is still on its way", file, line)
  }

  /// The world as text: rows of the server and of each device, what waits, what was refused, and what went wrong. Ids of
  /// mutations and other numbers that mean nothing to a reader are left out.
  public func text() async throws -> String {
    var out =
      "world \(parts.catalog.schema.name) \(parts.catalog.schema.version), seed \(seed), after \(clock.elapsed)\n"
    out += "server\n" + (try server.withServer { try $0.screen() })
    if let failure = server.withServer({ $0.failure }) { out += "  its last failure: \(failure)\n" }
    for device in devices { out += try await DeviceText(device, parts.catalog).text() }
    let faults = network.text
    return out + (faults.isEmpty ? "" : "network\n" + faults)
  }

  func failure(_ reason: String, _ file: StaticString, _ line: UInt) async -> TestFailure {
    let world: String
    do { world = try await text() } catch { world = "the world cannot be shown: \(error)" }
    return TestFailure(reason: reason, world: world, place: "\(file):\(line)")
  }
}
