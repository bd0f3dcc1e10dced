// SPDX-License-Identifier: Apache-2.0

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

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  package private(set) var seed: UInt64

  package init(seed: UInt64) { self.seed = seed }

  package mutating func next() -> UInt64 {
    seed &+= 0x9E37_79B9_7F4A_7C15
    var mixed = seed
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// True with this probability.
  package mutating func chance(_ probability: Double) -> Bool { Double(next() >> 11) * 0x1p-53 < probability }

  /// One of them, if there is any.
  package mutating func pick<C: Collection>(_ items: C) -> C.Element? { items.randomElement(using: &self) }
}
