// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// What the model did otherwise than follows from the event by itself.
extension HistoryReader {
  /// Reads a section of an event's line; it stands behind the blank before it.
  mutating func correct(_ line: inout HistoryScanner, _ event: HistoryEvent) throws {
    guard line.takes(";") else { throw Difference("not understood: \(line.rest)") }
    let section = UnicodeScalar(try line.take())
    if section == "w" { return try correctRows(&line, of: nil) }
    guard let device = event.device else { throw Difference("this event changes no device") }
    switch section {
    case "v": try correctRows(&line, of: device)
    case "o": try removeEntries(&line, of: device)
    case "O": try replaceEntries(&line, of: device)
    case "i", "I": try addRefusals(&line, of: device, isWhole: section == "I")
    case "s": state.devices[device]?.staged = try line.number()
    case "a": try correctArchive(&line, of: device)
    case "d":
      state.devices[device]?.ids = []
      while line.startsToken() { state.devices[device]?.ids.append(line.word()) }
    default: throw Difference("unknown section \(section)")
    }
  }

  private func startsToken(_ line: inout HistoryScanner) -> Bool {
    line.second != UInt8(ascii: ";") && line.startsToken()
  }

  /// Rows of the server, or of a device's screen: gone, as the server has them, as it had them, or with other values.
  private mutating func correctRows(_ line: inout HistoryScanner, of device: String?) throws {
    while startsToken(&line) {
      let isGone = line.takes("-")
      let key = try line.key(names)
      var row: HistoryRow?
      if isGone {
        row = nil
      } else if line.takes("@") {
        row = state.versions[.init(key: key, tag: try line.tag())]
      } else if line.next == UInt8(ascii: ",") {
        row = try changedRow(&line, key, device.map { try state.device($0).screen[key] } ?? state.rows[key])
      } else {
        row = state.rows[key]
      }
      if let device { state.devices[device]?.screen[key] = row } else { state.put(key, row) }
    }
  }

  private func changedRow(_ line: inout HistoryScanner, _ key: Int, _ before: HistoryRow?) throws -> HistoryRow {
    let table = HistoryTable.all[names.tables[key]]
    let empty = HistoryRow(
      values: table.columns.map { _ in .null }, version: .other("none"), incarnation: .other("none"))
    var row = before ?? empty
    while line.takes(",") {
      if line.takes("v") {
        row.version = try line.tag()
      } else if line.takes("c") {
        row.incarnation = try line.tag()
      } else {
        let (place, value) = try line.field(of: table, names, writer: "")
        row.values[place] = value
      }
    }
    return row
  }

  private mutating func removeEntries(_ line: inout HistoryScanner, of device: String) throws {
    while startsToken(&line) {
      let mutation = try line.mutation()
      state.devices[device]?.outbox.removeAll { $0.mutation == mutation }
    }
  }

  private mutating func replaceEntries(_ line: inout HistoryScanner, of device: String) throws {
    var entries: [HistoryDevice.Entry] = []
    while startsToken(&line) {
      var entry = HistoryDevice.Entry(mutation: try line.mutation(), number: 0)
      _ = line.takes(".")
      entry.number = try line.number()
      entry.isVoid = line.takes("v")
      entry.isSent = line.takes("s")
      entry.isDormant = line.takes("d")
      entries.append(entry)
    }
    state.devices[device]?.outbox = entries
    state.devices[device]?.counter = entries.map(\.number).max() ?? 0
  }

  private mutating func addRefusals(_ line: inout HistoryScanner, of device: String, isWhole: Bool) throws {
    var inbox = isWhole ? [] : try state.device(device).inbox
    while startsToken(&line) {
      let mutation = try line.mutation()
      let letter = try line.take()
      guard let outcome = HistoryReader.outcomes[letter] else { throw Difference("no outcome \(letter)") }
      inbox.append(.init(mutation: mutation, outcome: outcome, code: line.takes(",") ? line.word() : nil))
    }
    state.devices[device]?.inbox = inbox.sorted { $0.mutation < $1.mutation }
  }

  private mutating func correctArchive(_ line: inout HistoryScanner, of device: String) throws {
    var archive = Set(try state.device(device).archive)
    while startsToken(&line) {
      if line.takes("-") { archive.remove(try line.mutation()) } else { archive.insert(try line.mutation()) }
    }
    state.devices[device]?.archive = archive.sorted()
  }

  /// By their letters.
  static let outcomes: [UInt8: Outcome] = [
    UInt8(ascii: "c"): .confirmed, UInt8(ascii: "r"): .rejected, UInt8(ascii: "x"): .conflicted,
    UInt8(ascii: "v"): .void,
  ]
}
