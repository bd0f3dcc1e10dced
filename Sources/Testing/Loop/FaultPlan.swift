// SPDX-License-Identifier: Apache-2.0

/// What is to go wrong with one device's messages, and how often what went wrong.
struct FaultPlan: Sendable {
  /// What befalls one message. Durations in milliseconds.
  enum Kind: Sendable {
    case loseRequest, loseAnswer, doubleRequest, cutAnswer
    case delayRequest(Int64)
    case delayAnswer(Int64)
    case answer(_ status: Int, _ retryAfter: Int64?)
    case portal, expiredToken
  }

  /// What befalls every message while it lasts.
  enum Standing: Sendable { case portal, expiredToken }

  private struct Waiting {
    let name: String
    let message: TestNetwork.Message
    let kind: Kind
  }

  private struct Lasting {
    let name: String
    let state: Standing
    var isOver = false
    var hasMet = false
  }

  private let device: String
  private var waiting: [Waiting] = []
  private var lasting: [Lasting] = []
  private var counts: [(name: String, count: Int)] = []

  init(_ device: String) { self.device = device }

  mutating func add(_ name: String, _ message: TestNetwork.Message, _ kind: Kind) {
    waiting.append(Waiting(name: name, message: message, kind: kind))
  }

  mutating func begin(_ name: String, _ state: Standing) {
    if !lasting.contains(where: { $0.state == state && !$0.isOver }) {
      lasting.append(Lasting(name: name, state: state))
    }
  }

  mutating func end(_ state: Standing) {
    for index in lasting.indices where lasting[index].state == state { lasting[index].isOver = true }
  }

  /// What befalls the next message, which is counted. What lasts comes before what waits, since such a message goes nowhere.
  mutating func take(isPush: Bool) -> Kind? {
    if let index = lasting.firstIndex(where: { !$0.isOver }) {
      lasting[index].hasMet = true
      count(lasting[index].name)
      return lasting[index].state == .portal ? .portal : .expiredToken
    }
    let index = waiting.firstIndex { fault in
      switch fault.message {
      case .any: true
      case .push: isPush
      case .pull: !isPush
      }
    }
    guard let index else { return nil }
    let fault = waiting.remove(at: index)
    count(fault.name)
    return fault.kind
  }

  private mutating func count(_ name: String) {
    if let index = counts.firstIndex(where: { $0.name == name }) {
      counts[index].count += 1
    } else {
      counts.append((name, 1))
    }
  }

  var unused: [String] {
    (waiting.map(\.name) + lasting.filter { !$0.hasMet }.map(\.name)).map { "\($0) of \(device) never happened" }
  }

  var text: String {
    let past = counts.map { "  \($0.name) of \(device): \($0.count)\n" }
    return (past + unused.map { "  \($0)\n" }).joined()
  }
}
