// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization

/// A piece of work on a thread of its own: what blocks must not hold one of the few threads that tests run on.
package final class Work<Value: Sendable>: Sendable {
  private let outcome = Mutex<Value?>(nil)
  private let done = DispatchSemaphore(value: 0)

  package init(_ body: @escaping @Sendable () -> Value) {
    let thread = Thread { [self] in
      let value = body()
      outcome.withLock { $0 = value }
      done.signal()
    }
    thread.start()
  }

  /// Blocks until it is done.
  package func value() -> Value? {
    done.wait()
    defer { done.signal() }
    return outcome.withLock { $0 }
  }
}
