// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Runs asynchronous work for a caller that cannot wait otherwise, and blocks its thread meanwhile.
///
/// Only for threads that belong to nobody else, such as those of an HTTP server: a blocked thread of the cooperative pool
/// could be the one that the work needs.
func blocking<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
  let promise = Promise<T>()
  Task {
    do { promise.keep(.success(try await body())) } catch { promise.keep(.failure(error)) }
  }
  return try promise.wait()
}

private final class Promise<T: Sendable>: Sendable {
  private let result = Mutex<Result<T, any Error>?>(nil)
  private let isKept = DispatchSemaphore(value: 0)

  func keep(_ result: Result<T, any Error>) {
    self.result.withLock { $0 = result }
    isKept.signal()
  }

  func wait() throws -> T {
    isKept.wait()
    guard let result = result.withLock({ $0 }) else { preconditionFailure("signalled before it was kept") }
    return try result.get()
  }
}
