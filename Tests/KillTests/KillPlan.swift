// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit

/// Which process dies: the server, or a device by its place in `Stage.devices`.
enum Victim: Hashable, Sendable, CustomStringConvertible {
  case server
  case device(Int)

  var description: String {
    switch self {
    case .server: "server"
    case .device(let index): Stage.devices[index].folder
    }
  }
}

/// One death by `kill -9`.
struct Kill: Hashable, Sendable, CustomStringConvertible {
  enum Moment: Hashable, Sendable {
    /// When so many more orders have been acknowledged, whatever the process is doing then.
    case random(after: Int)
    /// Where the process stops itself: when it comes to a point for the N-th time.
    case armed(Point, Int)
  }

  /// A point of `docs/device.md`.
  enum Point: String, CaseIterable, Sendable {
    case push
    case answer
    case sequencer
    case write
    case page

    var isOnServer: Bool { [.push, .answer, .sequencer].contains(self) }

    /// The most times that the load is made to pass it: some writes, pushes or pages.
    var reach: Int {
      switch self {
      case .answer: 4
      case .push: 20
      case .sequencer: 40
      case .write, .page: 80
      }
    }
  }

  var victim: Victim
  var moment: Moment

  /// What the closing note counts it under.
  var kind: String {
    switch (moment, victim) {
    case (.armed(let point, _), _): point.rawValue
    case (.random, .server): "server at random"
    case (.random, .device): "device at random"
    }
  }

  var description: String {
    switch moment {
    case .random(let count): "\(victim) after \(count)"
    case .armed(let point, let number): "\(victim) at \(point):\(number)"
    }
  }
}

extension Kill {
  /// So many kills at random and so many at each point, in an order that the seed decides.
  static func plan(random: Int, atEachPoint: Int, seed: UInt64) -> [Kill] {
    var generator = SeededGenerator(seed: seed)
    func device() -> Victim { .device(Int.random(in: Stage.devices.indices, using: &generator)) }
    var plan = (0..<random).map { number in
      Kill(
        victim: number % 3 == 0 ? .server : device(),
        moment: .random(after: Int.random(in: 0...24, using: &generator)))
    }
    for point in Point.allCases {
      for _ in 0..<atEachPoint {
        plan.append(
          Kill(
            victim: point.isOnServer ? .server : device(),
            moment: .armed(point, Int.random(in: 1...point.reach, using: &generator))))
      }
    }
    return plan.shuffled(using: &generator)
  }
}
