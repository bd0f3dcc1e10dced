// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryMachine
import SkerryModel
import SkerryTestSupport
import SkerryTesting

/// What a suite needs that runs replicas with engines on a server in this process, on clocks that only the test moves.
protocol EngineBench {
  var folder: TemporaryFolder { get }
  var ambient: VirtualAmbient { get }
  var clock: ManualClock { get }
}

extension EngineBench {
  func replica(_ name: String = "a", user: AccountID = "ana") async throws -> Replica {
    try await Replica.open(path: folder.path(name + ".db"), account: user, schema: .library, ambient: ambient)
  }

  func engine(_ replica: Replica, _ harbour: Harbour) -> SyncEngine {
    SyncEngine(replica, transport: harbour, policy: TimingPolicy(batch: 3, page: 4), clock: clock)
  }

  /// Moves both clocks.
  func pass(_ milliseconds: Int64) {
    ambient.advance(by: milliseconds)
    clock.advance(by: .milliseconds(milliseconds))
  }
}
