// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit

/// A world's time. It stands still until a test moves it, or lets a device do a round.
///
/// It is a `Clock`: an app's own code that waits on an injected clock can be given this one. Whoever sleeps on it wakes when
/// the test has moved time far enough.
public final class TestClock: Clock, Sendable {
  /// A moment of a world's time.
  public struct Instant: InstantProtocol {
    /// Milliseconds since 1970.
    public let milliseconds: Int64

    /// The moment so much later; a part of a millisecond counts as a whole one.
    public func advanced(by duration: Duration) -> Instant {
      Instant(milliseconds: milliseconds + duration.milliseconds)
    }

    /// How far it is to another moment.
    public func duration(to other: Instant) -> Duration { .milliseconds(other.milliseconds - milliseconds) }

    /// Whether one is before the other.
    public static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }
  }

  private let loop: WorldLoop
  private let start: Int64
  /// What is said of a sleeper that is left over; nil for an engine's clock, whose sleepers end with the engine.
  private let sleeper: String?

  init(_ loop: WorldLoop, isEngines: Bool = false) {
    self.loop = loop
    sleeper = isEngines ? nil : "somebody still sleeps on the world's clock"
    start = loop.time.now
  }

  /// The present moment. Each world begins at the same one, in January 2027.
  public var now: Instant { Instant(milliseconds: loop.time.now) }
  /// One millisecond.
  public var minimumResolution: Duration { .milliseconds(1) }
  /// How much time has passed since the world began.
  public var elapsed: Duration { .milliseconds(loop.time.now - start) }

  /// Waits until a moment, which comes when the test moves time that far.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await loop.sleep(until: deadline.milliseconds, what: sleeper)
  }

  /// Lets time pass. What falls due is done in its order, each engine that was started included, and is done when this
  /// returns; nothing sleeps.
  public func advance(by duration: Duration) async {
    await loop.drive { end in loop.at(loop.time.now + duration.milliseconds, end) }
  }
}

extension Duration {
  /// So many minutes of sixty seconds.
  public static func minutes(_ count: Int) -> Duration { .seconds(count * 60) }
  /// So many hours of sixty minutes.
  public static func hours(_ count: Int) -> Duration { .seconds(count * 3_600) }
  /// So many days of twenty-four hours.
  public static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
