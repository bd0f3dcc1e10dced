// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import Synchronization

/// The clock and the randomness of one node: the world's time, set forward or back, and a tape of its own.
final class NodeAmbient: Ambient {
  private let scheduler: Scheduler
  private let state: Mutex<(generator: SeededGenerator, skew: Int64)>

  init(_ scheduler: Scheduler, seed: UInt64) {
    self.scheduler = scheduler
    state = Mutex((SeededGenerator(seed: seed), 0))
  }

  /// How far the node's clock is off, in milliseconds.
  var skew: Int64 {
    get { state.withLock { $0.skew } }
    set { state.withLock { $0.skew = newValue } }
  }

  func now() -> Int64 { scheduler.now + skew }

  func random() -> UInt64 { state.withLock { $0.generator.next() } }
}
