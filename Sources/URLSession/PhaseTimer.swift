// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Calls back when a span of time is over. It reads no clock: the system measures the span. A transport over a library
/// without time limits of its own needs one; nobody else does.
final class PhaseTimer: Sendable {
  private static let queue = DispatchQueue(label: "skerry.urlsession.time")

  private let source = Mutex<(any DispatchSourceTimer)?>(nil)

  deinit { stop() }

  /// Begins anew: what was begun before does not call back any more.
  func start(milliseconds: Int, _ late: @escaping @Sendable () -> Void) {
    source.withLock { source in
      let timer = source ?? PhaseTimer.make()
      timer.setEventHandler(handler: late)
      timer.schedule(deadline: .now() + .milliseconds(max(0, milliseconds)))
      source = timer
    }
  }

  func stop() {
    source.withLock { source in
      source?.cancel()
      source = nil
    }
  }

  private static func make() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.activate()
    return timer
  }
}
