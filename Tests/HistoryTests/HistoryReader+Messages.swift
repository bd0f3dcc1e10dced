// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// Requests, answers and their arrival. Messages are numbered as they are made; an event names one by how many came after it.
extension HistoryReader {
  mutating func readMessage(_ line: inout HistoryScanner, _ verb: UInt8) throws -> HistoryEvent {
    if verb == UInt8(ascii: "O") { return try readOffer(&line) }
    if verb == UInt8(ascii: "A") {
      let device = try device(&line)
      state.messages.append(.init(device: device, open: try state.device(device).open))
      return .ask(device: device)
    }
    let message = state.messages.count - 1 - (line.isAtDigit ? try line.number() : 0)
    guard message > 0 else { throw Difference("no message \(message)") }
    let found = state.messages[message]
    if verb == UInt8(ascii: "R") { return try readArrival(&line, message, found) }
    return try readAnswer(&line, message, found)
  }

  private mutating func readArrival(
    _ line: inout HistoryScanner, _ message: Int, _ answer: HistoryState.Message
  ) throws -> HistoryEvent {
    var (fits, minted): (Bool?, String?)
    if !line.isAtEnd, line.second != UInt8(ascii: ";"), line.startsToken() {
      if answer.holdsVerdicts {
        minted = line.word()
      } else {
        fits = line.takes("+")
        if fits == false { _ = line.takes("-") }
      }
    }
    try state.receive(message, minted: minted, fits: fits ?? false, names)
    return .receive(message: message, device: answer.device, fits: fits, minted: minted)
  }

  private mutating func readOffer(_ line: inout HistoryScanner) throws -> HistoryEvent {
    let device = try device(&line)
    var offered: [(mutation: Int, after: [Int])] = []
    while line.second == UInt8(ascii: "m"), line.startsToken() {
      let mutation = try line.mutation()
      var after: [Int] = []
      if line.takes("<") { repeat { after.append(try line.mutation()) } while line.takes(",") }
      offered.append((mutation, after))
      state.devices[device]?.change(mutation) { $0.isSent = true }
    }
    state.messages.append(.init(device: device, mutations: offered.map(\.mutation)))
    return .offer(device: device, offered)
  }

  private mutating func readAnswer(
    _ line: inout HistoryScanner, _ message: Int, _ request: HistoryState.Message
  ) throws -> HistoryEvent {
    if line.second == UInt8(ascii: ":") {
      let outcome = try line.pushOutcome(names)
      state.judge(try state.device(request.device).user, request.mutations, outcome.verdicts)
      state.messages.append(.init(device: request.device, holdsVerdicts: true))
      return .push(message: message, outcome)
    }
    let outcome = try pullOutcome(&line, open: request.open)
    state.messages.append(.init(device: request.device, answer: outcome.answer))
    return .pull(message: message, outcome)
  }

  private mutating func pullOutcome(_ line: inout HistoryScanner, open: [SpaceID]) throws -> PullOutcome {
    let commits = between
    between = []
    let outcome = try line.pullOutcome(names, open: open, between: commits)
    for commit in commits { state.commit(commit) }
    return outcome
  }

  mutating func readAttack(_ line: inout HistoryScanner, _ verb: UInt8) throws -> HistoryEvent {
    let user = try device(&line)
    _ = line.startsToken()
    if verb == UInt8(ascii: "X") {
      let number = try line.number()
      _ = line.startsToken()
      let mutation = try line.mutation()
      let operations = try line.operations(names, of: mutation, on: state.rows)
      let outcome = try line.pushOutcome(names)
      state.attack(user, mutation, operations, outcome.verdicts)
      return .attackPush(user: user, number: number, mutation: mutation, operations, outcome)
    }
    let device = line.word()
    _ = line.startsToken()
    let open = try line.spaces(names)
    _ = line.startsToken()
    let limit = try line.number()
    return .attackPull(user: user, device: device, open: open, limit: limit, try pullOutcome(&line, open: open))
  }
}
