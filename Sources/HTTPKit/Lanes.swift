// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Threads for handlers that may wait for others, beside those that serve the connections.
///
/// Serial queues, each with a thread of its own when it needs one: the blocks of a concurrent queue share the threads under
/// the cooperative pool, where a few that wait hold everything up.
final class Lanes: Sendable {
  private let queues: [DispatchQueue]
  private let loads: Mutex<[Int]>

  init(count: Int) {
    queues = (0..<count).map { DispatchQueue(label: "skerry.http.aside.\($0)") }
    loads = Mutex(Array(repeating: 0, count: count))
  }

  /// Runs a closure on the lane with the least to do.
  func run(_ body: @escaping @Sendable () -> Void) {
    let lane = loads.withLock { loads in
      let lane = loads.indices.min { loads[$0] < loads[$1] } ?? 0
      loads[lane] += 1
      return lane
    }
    queues[lane].async {
      body()
      self.loads.withLock { $0[lane] -= 1 }
    }
  }
}

/// The answer that a lane has worked out, on its way to the thread of its connection.
final class AsideAnswer: Sendable {
  private let response = Mutex<HTTPResponse?>(nil)

  func set(_ response: HTTPResponse) { self.response.withLock { $0 = response } }

  func take() -> HTTPResponse? { response.withLock { $0.take() } }
}
