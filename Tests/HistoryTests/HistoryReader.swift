// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore

/// Reads a history event by event, and knows after each how everything must stand.
struct HistoryReader {
  let head: HistoryHead
  let names: HistoryNames
  var state: HistoryState
  /// The sequencer runs of the event that was read last.
  private(set) var runs: [[RunStep]] = []
  private var lines: ArraySlice<HistoryScanner>
  var between: [ForeignCommit] = []

  init(_ text: HistoryText) throws {
    head = try HistoryHead(text)
    names = HistoryNames(head)
    state = HistoryState(head, names)
    lines = text.lines[head.count...]
  }

  /// The place of the next line in the history, which is the number of the last one as people count.
  var line: Int { lines.startIndex }

  /// The next event; nil behind the last. The state is then the one behind it.
  mutating func next() throws -> HistoryEvent? {
    while var line = lines.popFirst() {
      if line.takes("~") {
        _ = try line.take()
        between.append(try line.foreign(names, state.rows))
        continue
      }
      let event = try read(&line)
      runs = []
      while line.startsToken() {
        guard line.takes("#") else {
          try correct(&line, event)
          continue
        }
        runs.append(try line.run(names, state))
      }
      if !line.isAtEnd { throw Difference("not understood: \(line.rest)") }
      return event
    }
    return nil
  }

  private mutating func read(_ line: inout HistoryScanner) throws -> HistoryEvent {
    let verb = try line.take()
    switch UnicodeScalar(verb) {
    case "W", "C", "D": return try readWork(&line, verb)
    case "O", "A", "S", "R": return try readMessage(&line, verb)
    case "K", "I", "V", "N": return try readFile(&line, verb)
    case "X", "Y": return try readAttack(&line, verb)
    case "F":
      let commit = try line.foreign(names, state.rows)
      state.commit(commit)
      return .foreign(commit)
    case "Q": return .sequence
    case "E":
      _ = line.startsToken()
      return .expire(upTo: try line.number())
    case "B":
      state.backUp()
      return .backUp
    case "T":
      state.loseTail()
      return .loseTail(epoch: line.startsToken() ? line.word() : nil)
    default: throw Difference("unknown event \(UnicodeScalar(verb))")
    }
  }

  func device(_ line: inout HistoryScanner) throws -> String {
    guard line.startsToken() else { throw Difference("a device wanted at \(line.rest)") }
    return line.word()
  }

  private mutating func readWork(_ line: inout HistoryScanner, _ verb: UInt8) throws -> HistoryEvent {
    let isRefused = line.takes("!")
    let device = try device(&line)
    _ = line.startsToken()
    let mutation = try line.mutation()
    let screen = try state.device(device).screen
    switch UnicodeScalar(verb) {
    case "W":
      let operations = try line.operations(names, of: mutation, on: screen)
      state.write(device, mutation, operations)
      return .write(device: device, mutation: mutation, operations)
    case "C":
      _ = line.startsToken()
      let new = try line.mutation()
      let operations = try line.operations(names, of: new, on: screen)
      if !isRefused { state.edit(device, mutation, new, operations) }
      return .edit(device: device, mutation: mutation, new: new, operations, isRefused: isRefused)
    default:
      state.devices[device]?.change(mutation) { $0.isVoid = true }
      return .discard(device: device, mutation: mutation)
    }
  }

  private mutating func readFile(_ line: inout HistoryScanner, _ verb: UInt8) throws -> HistoryEvent {
    let device = try device(&line)
    switch UnicodeScalar(verb) {
    case "K": return .crash(device: device)
    case "I":
      state.image(device)
      return .image(device: device)
    case "V":
      state.restore(device)
      return .restore(device: device)
    default:
      let new = try self.device(&line)
      state.devices[new] = state.devices[device]
      return .clone(device: device, new: new)
    }
  }
}
