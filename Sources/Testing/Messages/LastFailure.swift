// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Keeps what an endpoint reports, of which its answer says nothing.
final class LastFailure: Sendable {
  private let last = Mutex<String?>(nil)

  var text: String? { last.withLock { $0 } }

  @Sendable func note(_ error: any Error) { last.withLock { $0 = "\(error)" } }
}
