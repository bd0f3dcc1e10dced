// SPDX-License-Identifier: Apache-2.0

public import SkerryModel
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system's clock and randomness: the one place where they are read.
public struct SystemAmbient: Ambient {
  /// The system's clock and randomness.
  public init() {}

  /// The wall clock in milliseconds since 1970.
  public func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Measures waits; it goes on while the system sleeps.
  public static var clock: any Clock<Duration> { ContinuousClock() }

  /// Nanoseconds since some moment; never goes back. For measuring how long something takes.
  package static func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Sixty-four bits from the system's secure generator.
  public func random() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }
}

/// The system's randomness, and its clock set forward or back.
package final class OffsetAmbient: Ambient {
  private let system = SystemAmbient()
  private let milliseconds = Mutex<Int64>(0)

  package init() {}

  /// How far the clock is off, in milliseconds.
  package var offset: Int64 {
    get { milliseconds.withLock { $0 } }
    set { milliseconds.withLock { $0 = newValue } }
  }

  package func now() -> Int64 { system.now().addingReportingOverflow(offset).partialValue }

  package func random() -> UInt64 { system.random() }
}
