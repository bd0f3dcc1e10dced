// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import Synchronization

/// What a device's transport knows of it.
final class DeviceLink: Sendable {
  private struct State {
    var isOffline = false
    var isStarted = false
    var life = 0
  }

  let name: String
  let number: Int
  let account: AccountID
  private let state = Mutex(State())

  init(name: String, number: Int, account: AccountID) {
    self.name = name
    self.number = number
    self.account = account
  }

  /// The machine, as the world's disk knows it.
  var machine: String { "device\(number)" }

  var isOffline: Bool {
    get { state.withLock { $0.isOffline } }
    set { state.withLock { $0.isOffline = newValue } }
  }

  /// Whether the engine works in the background.
  var isStarted: Bool {
    get { state.withLock { $0.isStarted } }
    set { state.withLock { $0.isStarted = newValue } }
  }

  /// Counts the processes that the app has had. What an earlier one would send goes nowhere.
  var life: Int { state.withLock { $0.life } }

  func beginLife() -> Int {
    state.withLock { state in
      state.life += 1
      return state.life
    }
  }
}
