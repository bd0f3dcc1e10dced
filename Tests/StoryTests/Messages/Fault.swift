// SPDX-License-Identifier: Apache-2.0

/// What befalls a message on its way.
enum Fault: Hashable, Sendable, CustomStringConvertible {
  /// It never arrives, and its sender gives up waiting.
  case lost
  /// It arrives twice.
  case doubled
  /// Its sender gives up waiting, and yet it arrives, after so many further messages: a request at a server, an answer at
  /// a device, that have both moved on.
  case late(by: Int)
  /// Its sender waits all the while, and works on.
  case slow(by: Int)

  var description: String {
    switch self {
    case .lost: "lost"
    case .doubled: "doubled"
    case .late(let count): "late by \(count)"
    case .slow(let count): "slow by \(count)"
    }
  }
}
