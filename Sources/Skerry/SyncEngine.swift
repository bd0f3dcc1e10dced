// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
public import SkerryMachine
import SkerrySQLiteKit
public import SkerryStore

/// Keeps a replica in step with its server: carries out what the machine decides, and owns the time and the network.
///
/// Nothing starts in the initialiser. `run()` syncs until its task is cancelled; `syncOnce(within:)` does one bounded round,
/// for background tasks. One of them drives at a time; a call that finds the other at work throws `EngineBusy`.
public actor SyncEngine {
  /// What holds syncing up, or that nothing does.
  public enum Condition: Sendable, Equatable {
    /// A round is under way.
    case working
    /// The last round ended well.
    case idle
    /// The server cannot be reached; it is tried again with growing waits.
    case unreachable
    /// Something answers, but not as a Skerry server should; the HTTP status tells what. It is tried again.
    case failing(status: Int)
    /// The token is not accepted, and nothing passes until it is. Tried again when `authenticated()` or `requestSync()` is
    /// called, and now and then; the outbox is kept.
    case needsAuthentication
    /// The device's schema or protocol does not fit the server; one of them must be updated. The outbox is kept.
    case refused(status: Int)
  }

  private let replica: Replica
  private let transport: any Transport
  private let policy: TimingPolicy
  private let clock: any Clock<Duration>
  /// Where the engine's own tasks run; nil for the runtime's threads.
  private let executor: (any TaskExecutor)?
  private let alarm: Alarm
  private var hasSession = false
  private var mayAskAhead = true
  /// The next pull, sent while a page is taken in.
  private var ahead: (exchange: SyncSession.Exchange, result: Task<Result<TransportResponse, TransportError>, Never>)?

  /// An engine for a replica.
  public init(_ replica: Replica, transport: any Transport, policy: TimingPolicy = .standard) {
    self.init(replica, transport: transport, policy: policy, clock: SystemAmbient.clock)
  }

  /// An engine whose waits are measured by a clock of the caller's.
  public init(
    _ replica: Replica, transport: any Transport, policy: TimingPolicy = .standard, clock: any Clock<Duration>
  ) {
    self.init(replica, transport: transport, policy: policy, clock: clock, executor: nil)
  }

  /// An engine whose own tasks run where the caller says, so that a world with one thread decides their order.
  package init(
    _ replica: Replica, transport: any Transport, policy: TimingPolicy, clock: any Clock<Duration>,
    executor: (any TaskExecutor)?
  ) {
    self.replica = replica
    self.transport = transport
    self.policy = policy
    self.clock = clock
    self.executor = executor
    alarm = Alarm(executor: executor)
  }

  /// Syncs until the task is cancelled: after each local write, and at the policy's interval.
  ///
  /// While another process holds the file's lock, it waits and tries again. While the replica is suspended, it waits for
  /// `Replica.resume()`.
  ///
  /// - Throws: `StoreError` or an error of the database, when the file can no longer be used; `EngineBusy` if another `run()`
  ///   is at work. Failures of the network and the server are no errors here: see `condition()`.
  public func run() async throws {
    try await drive(stopsWhenResting: false)
  }

  /// Does one round: pushes what waits, and pulls until the replica is as the server is.
  ///
  /// Returns early when the server cannot be reached or has asked to be left alone, and at the latest after `limit`; what was
  /// fetched until then is kept, and the next call goes on from there.
  ///
  /// - Returns: what was done in this call.
  /// - Throws: as `run()`; `StoreError` with code `suspended` if the replica is suspended.
  public func syncOnce(within limit: Duration) async throws -> SyncReport {
    let before = await report()
    let (clock, engine) = (clock, self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await engine.drive(stopsWhenResting: true) }
      group.addTask { try await clock.sleep(for: limit) }
      // Whichever ends first ends the other: the round is done, or its time is over.
      defer { group.cancelAll() }
      try await group.next()
    }
    return await report().since(before)
  }

  /// Asks for a round now: a gesture, a hint, the app coming to the foreground. A wait that the server asked for is kept.
  public func requestSync() async {
    await replica.note(.syncRequested)
    alarm.ring()
  }

  /// Goes on after `needsAuthentication`: the transport has a token again.
  public func authenticated() async {
    await replica.note(.authenticated)
    alarm.ring()
  }

  /// What holds syncing up, or that nothing does.
  public func condition() async -> Condition {
    switch await replica.condition() {
    case .working: .working
    case .idle: .idle
    case .unreachable: .unreachable
    case .failing(let status): .failing(status: status)
    case .needsAuthentication: .needsAuthentication
    case .refused(let status): .refused(status: status)
    }
  }

  /// What was done since the engine began.
  public func report() async -> SyncReport { await replica.report() }

  /// Carries out steps until the task is cancelled or, if so wanted, there is nothing to do for now.
  private func drive(stopsWhenResting: Bool) async throws {
    let alarm = alarm
    // The replica has one conversation at a time, whichever engine drives it.
    guard await replica.beginDriving(isNew: !hasSession, policy, onChange: { alarm.ring() }) else { throw EngineBusy() }
    hasSession = true
    do { try await carryOutSteps(stopsWhenResting) } catch {
      dropAhead()
      await replica.endDriving()
      throw error
    }
    dropAhead()
    await replica.endDriving()
  }

  private func carryOutSteps(_ stopsWhenResting: Bool) async throws {
    await replica.note(.syncRequested)
    while !Task.isCancelled {
      do {
        if try await !carryOutStep(stopsWhenResting) { return }
        mayAskAhead = true
      } catch let error as SQLiteError where error.isRetryable {
        // Another process of the app holds the file. An answer that could not be taken in is asked for again, and nothing
        // beyond it until it has been.
        mayAskAhead = false
        await alarm.wait(for: SyncEngine.lockWait, clock: clock)
      } catch let error as StoreError where error.code == .suspended && !stopsWhenResting {
        // Resuming rings. What was fetched meanwhile is asked for again: another process may have gone on from there.
        mayAskAhead = false
        dropAhead()
        await alarm.wait(for: nil, clock: clock)
      }
    }
  }

  /// Before the file is tried again that another process holds.
  private static let lockWait = Duration.seconds(1)

  /// - Returns: false if there is nothing more to do in this call.
  private func carryOutStep(_ stopsWhenResting: Bool) async throws -> Bool {
    switch try await replica.nextStep() {
    case .exchange(let wanted):
      let (exchange, result) = await fetch(wanted)
      // Cancelled on the way: whether it was carried out is not known, and the next round will tell.
      if Task.isCancelled { return false }
      guard let (incoming, next) = try await replica.open(result, for: exchange) else { return false }
      if let next, mayAskAhead { ahead = (next, Task(executorPreference: executor) { await self.send(next) }) }
      try await replica.take(incoming)
    case .wait(let time):
      dropAhead()
      if stopsWhenResting { return false }
      let wait = time.map { Duration.milliseconds(max(0, $0 - replica.now())) }
      await alarm.wait(for: wait, clock: clock)
    }
    return true
  }

  /// What came back for an exchange, or for one that was sent ahead and serves it.
  private func fetch(
    _ wanted: SyncSession.Exchange
  ) async -> (SyncSession.Exchange, Result<TransportResponse, TransportError>) {
    guard let sent = ahead, sent.exchange.serves(wanted) else {
      dropAhead()
      return (wanted, await send(wanted))
    }
    ahead = nil
    return await withTaskCancellationHandler {
      (sent.exchange, await sent.result.value)
    } onCancel: {
      sent.result.cancel()
    }
  }

  private func dropAhead() {
    ahead?.result.cancel()
    ahead = nil
  }

  private func send(_ exchange: SyncSession.Exchange) async -> Result<TransportResponse, TransportError> {
    let span = replica.log?.begin(exchange)
    let result = await send(exchange.request)
    replica.log?.end(span, result)
    return result
  }

  private func send(_ request: TransportRequest) async -> Result<TransportResponse, TransportError> {
    do { return .success(try await transport.exchange(request)) } catch let error as TransportError {
      return .failure(error)
    } catch is CancellationError {
      return .failure(.cancelled)
    } catch {
      return .failure(.broken("\(error)"))
    }
  }
}

/// Another call, of this engine or of another one on the same replica, is at work.
public struct EngineBusy: Error, Sendable, CustomStringConvertible {
  /// What to do.
  public var description: String { "the engine is at work already; call requestSync() instead" }
}

extension SyncReport {
  /// What was done between an earlier report and this one.
  func since(_ earlier: SyncReport) -> SyncReport {
    var out = self
    out.subtract(earlier)
    return out
  }
}
