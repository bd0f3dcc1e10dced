// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What is computed from something that never changes, kept beside it: one value of each type, made when it is first asked
/// for. Safe from any thread.
package final class DerivedValues: Sendable {
  private let values = Mutex<[ObjectIdentifier: any Sendable]>([:])

  init() {}

  /// The value of that type; a closure makes it if there is none.
  package func value<T: AnyObject & Sendable>(_ type: T.Type, make: () -> T) -> T {
    let name = ObjectIdentifier(type)
    if let known = values.withLock({ $0[name] as? T }) { return known }
    let made = make()
    return values.withLock { values in
      if let known = values[name] as? T { return known }
      values[name] = made
      return made
    }
  }
}
