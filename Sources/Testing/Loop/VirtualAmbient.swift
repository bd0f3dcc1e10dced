// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import Synchronization

/// A time that stands still until somebody moves it, in milliseconds since 1970; shared by all that live in it.
package final class VirtualTime: Sendable {
  private let milliseconds: Mutex<Int64>

  package init(_ now: Int64 = 1_800_000_000_000) { milliseconds = Mutex(now) }

  package var now: Int64 {
    get { milliseconds.withLock { $0 } }
    set { milliseconds.withLock { $0 = newValue } }
  }

  package func advance(by amount: Int64) { milliseconds.withLock { $0 += amount } }
}

/// A virtual time and a seeded generator (SplitMix64) of one's own, so that what one draws shifts no other's numbers.
package final class VirtualAmbient: Ambient {
  private let time: VirtualTime
  private let generator: Mutex<SeededGenerator>

  package init(seed: UInt64, time: VirtualTime = VirtualTime()) {
    self.time = time
    generator = Mutex(SeededGenerator(seed: seed))
  }

  package func now() -> Int64 { time.now }

  package func random() -> UInt64 { generator.withLock { $0.next() } }

  /// Moves the clock; a negative number sets it back.
  package func advance(by milliseconds: Int64) { time.advance(by: milliseconds) }
}
