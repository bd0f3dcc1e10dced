// SPDX-License-Identifier: Apache-2.0
import SkerryTesting

/// Runs a scripted history until each of its messages has met a fault.
///
/// A fault befalls a message only when nothing is left of the one before: the server holds what it holds at that step of the
/// history without faults, every device is at rest, and the same work is waiting. So a history told once serves for several
/// faults, and each of them is alone. A device that is more up to date than without faults may get fewer pages; a message that
/// is not sent for that reason has its turn as the first of a run.
final class Trials {
  private let village: Village
  private let history: [Histories.Step]
  /// The number of messages in each step, and the world before it, without faults.
  private var sizes: [Int] = []
  private var states: [[String]] = []
  /// How often the history was told.
  private(set) var runs = 0
  /// How many messages met a fault.
  private(set) var faults = 0

  init(_ village: Village, _ history: [Histories.Step]) throws {
    self.village = village
    self.history = history
    try tell { _ in
      self.states.append(try village.fingerprint())
      return [:]
    } after: { _, messages, _ in
      self.sizes.append(messages)
    }
  }

  /// How many messages the history has without faults.
  var messages: Int { sizes.reduce(0, +) }

  /// The step and the number in it of each message.
  var places: [(step: Int, message: Int)] {
    sizes.enumerated().flatMap { step, count in (0..<count).map { (step, $0 + 1) } }
  }

  /// Lets the fault befall each message in turn.
  func each(_ fault: Fault) throws {
    var left = sizes.map { Array((0..<$0).map { $0 + 1 }.reversed()) }
    var onlyAsFirst: Set<Int> = []
    while left.contains(where: { !$0.isEmpty }) {
      var met = 0
      try tell { step in
        // A fault keeps the next step from having one: the step of the two with more messages left comes first.
        let next = step + 1 < left.count ? left[step + 1].count : 0
        guard let message = left[step].last, left[step].count >= next,
          met == 0 || !onlyAsFirst.contains(step), try self.village.fingerprint() == self.states[step]
        else { return [:] }
        return [message: fault]
      } after: { step, _, happened in
        if happened {
          left[step].removeLast()
          met += 1
        } else {
          onlyAsFirst.insert(step)
        }
      }
      if met == 0 { throw WorldError("the world does not come back to where it was: \(left)") }
      faults += met
    }
  }

  /// Tells the history once with these faults, by step and message.
  ///
  /// - Returns: how many have happened. A second one may not: its message may not be sent because of the first.
  func once(_ faults: [Int: [Int: Fault]]) throws -> Int {
    let before = village.post.happened
    try tell {
      faults[$0] ?? [:]
    } after: { _, _, _ in
    }
    return village.post.happened - before
  }

  /// - Parameter after: gets the step, the number of messages in it, and whether a fault has happened; a step for which none
  ///   was wanted is told with its messages only in the first run.
  private func tell(
    _ faults: (Int) throws -> [Int: Fault], after: (_ step: Int, _ messages: Int, _ happened: Bool) -> Void
  ) throws {
    runs += 1
    do {
      try village.begin()
      for (number, step) in history.enumerated() {
        let wanted = try faults(number)
        let before = village.post.happened
        let messages = try village.carryOut(step, number: number, faults: wanted)
        if !wanted.isEmpty || sizes.count < history.count { after(number, messages, village.post.happened > before) }
      }
      try village.end()
    } catch {
      let story = village.post.journal.joined(separator: "\n")
      throw WorldError("\(error)\n\(story)\n\(try village.world.describe())")
    }
  }
}
