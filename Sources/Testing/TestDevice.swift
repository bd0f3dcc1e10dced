// SPDX-License-Identifier: Apache-2.0

public import Skerry
import SkerryAmbientKit
import SkerryDiskKit
import SkerryMachine
public import SkerryModel
public import SkerryStore
import Synchronization

/// A device of a world: a machine with a disk, and on it one process of the app with the real replica and the real engine.
///
/// Only its clock, its randomness, its disk and its network are not the system's. A device does nothing by itself: `sync()`
/// does one round, and an engine that was started with `start()` works while the test lets time pass.
public final class TestDevice: Sendable {
  private let link: DeviceLink
  private let parts: WorldParts
  private let lane: Lane
  private let ambient: VirtualAmbient
  private let process: Mutex<DeviceProcess>

  init(_ link: DeviceLink, _ parts: WorldParts, seed: UInt64) throws {
    self.link = link
    self.parts = parts
    lane = parts.loop.makeLane()
    ambient = VirtualAmbient(seed: seed, time: parts.time)
    process = Mutex(try DeviceProcess(link, parts, lane, ambient))
  }

  /// What it is called in texts.
  public var name: String { link.name }
  /// Whose device it is.
  public var account: AccountID { link.account }
  var number: Int { link.number }

  /// The app's copy of the account's data, in the present process: another one after `restart()`.
  public var replica: Replica { process.withLock { $0.replica } }
  /// What keeps the copy in step, in the present process. Use `sync()` and `start()` to let it work.
  public var engine: SyncEngine { process.withLock { $0.engine } }

  /// Whether it has no network: every request fails at once.
  public var isOffline: Bool {
    get { link.isOffline }
    set { link.isOffline = newValue }
  }

  /// Whether the app's process is there: not between `kill()` or `losePower()` and `restart()`.
  public var isRunning: Bool { process.withLock { $0.isAlive } }
  /// Whether the engine works in the background.
  public var isStarted: Bool { link.isStarted }

  // MARK: Syncing

  /// One round: pushes what waits, and pulls until the replica is as the server is, for ten minutes of the world's time at most.
  /// What waits of it, for an answer that is lost or late, passes at once.
  ///
  /// A failure of the network is no error, as with `SyncEngine.syncOnce`: look at the report.
  ///
  /// - Returns: what was done.
  /// - Throws: `EngineBusy` after `start()`; `TestFailure` if the app is not running; an error of the store or its disk.
  @discardableResult
  public func sync() async throws -> SyncReport {
    guard isRunning else {
      throw TestFailure(reason: "the app is not running; call restart() first", world: "", place: name)
    }
    let engine = engine
    return try await parts.loop.run(on: lane) { try await engine.syncOnce(within: .minutes(10)) }
  }

  /// Lets the engine work in the background, as an app does with `SyncEngine.run()`. It works while the test lets time pass,
  /// with `advance(by:)`, `settle()` or another device's `sync()`, and rests otherwise.
  public func start() {
    let engine = engine
    process.withLock { process in
      if process.task != nil || !process.isAlive { return }
      link.isStarted = true
      parts.loop.setBackground(true, lane)
      process.task = Task(executorPreference: lane) { try await engine.run() }
    }
  }

  /// Ends the engine's work in the background; does nothing if there is none.
  ///
  /// - Throws: what the engine ended with by itself: an error of the store or its disk.
  public func stop() async throws {
    let task = process.withLock { process in
      defer { process.task = nil }
      return process.task
    }
    guard let task else { return }
    task.cancel()
    defer {
      link.isStarted = false
      parts.loop.setBackground(false, lane)
    }
    try await parts.loop.run(on: lane) { try await task.value }
  }

  /// One round, or, of an engine in the background, what it does when it is asked for one.
  func round() async throws -> SyncReport {
    guard isStarted else { return try await sync() }
    let before = await engine.report()
    await engine.requestSync()
    await parts.clock.advance(by: .seconds(1))
    var report = await engine.report()
    report.subtract(before)
    return report
  }

  /// Whether something drives the engine: `start()`, or a call of the app's own that has not ended.
  func isAtWork() async -> Bool {
    if isStarted { return true }
    let replica = replica
    if await !replica.beginDriving(isNew: false, parts.policy, onChange: {}) { return true }
    await replica.endDriving()
    return false
  }

  // MARK: Death and disk

  /// The app's process dies, as with `kill -9`, and stays away until `restart()`. What `write` has returned for is on the disk.
  /// Every call on its replica fails from now on.
  public func kill() async { await die { parts.disk.kill(process: $0) } }

  /// The machine loses power: as `kill()`, and what was not synced to the disk may be gone or torn.
  public func losePower() async { await die { _ in parts.disk.cutPower(of: link.machine) } }

  /// The app is started anew, with a new `replica` and `engine` on the same file; it is killed first if it is running.
  ///
  /// - Throws: as `Replica.open(in:account:schema:)`.
  public func restart() async throws {
    if isRunning { await kill() }
    let next = try DeviceProcess(link, parts, lane, ambient)
    process.withLock { $0 = next }
  }

  private func die(_ strike: (_ process: String) -> Void) async {
    process.withLock { process in
      strike(process.label)
      process.isAlive = false
    }
    // A dead process reports no errors: what its last job met is nobody's business any more.
    try? await stop()
  }

  /// The disk is full: a file can only grow again after `emptyDisk()`.
  public func fillDisk() { parts.disk.setFreeBytes(0, on: link.machine) }

  /// The disk has room again.
  public func emptyDisk() { parts.disk.setFreeBytes(nil, on: link.machine) }
}
