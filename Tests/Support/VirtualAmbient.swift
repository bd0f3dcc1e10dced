// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import Synchronization

/// A clock that stands still until it is told to move, and a seeded generator (SplitMix64).
package final class VirtualAmbient: Ambient {
  private let state: Mutex<(now: Int64, seed: UInt64)>

  package init(seed: UInt64, now: Int64 = 1_800_000_000_000) { state = Mutex((now, seed)) }

  package func now() -> Int64 { state.withLock { $0.now } }

  package func random() -> UInt64 {
    state.withLock { state in
      var generator = SeededGenerator(seed: state.seed)
      let value = generator.next()
      state.seed = generator.seed
      return value
    }
  }

  /// Moves the clock; a negative number sets it back.
  package func advance(by milliseconds: Int64) { state.withLock { $0.now += milliseconds } }
}
