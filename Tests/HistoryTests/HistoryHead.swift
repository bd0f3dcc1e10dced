// SPDX-License-Identifier: Apache-2.0

/// The first lines of a history: its world, and the names of all that appears in it.
struct HistoryHead {
  let seed: Int
  /// The most items of a page.
  let limit: Int
  /// The longest catch-up that is published at once.
  let bound: Int
  /// The devices' names, with the users that they belong to.
  let devices: [(name: String, user: String)]
  /// Real names by their letter, in order.
  let names: [UInt8: [String]]
  /// Where the events begin.
  let count: Int

  init(_ text: HistoryText) throws {
    seed = try text.seed
    guard var line = text.lines.first, line.takes("=") else { throw Difference("no head") }
    _ = line.startsToken()
    _ = try line.number()
    _ = line.startsToken()
    limit = try line.number()
    _ = line.startsToken()
    bound = try line.number()
    _ = line.startsToken()
    while line.next != UInt8(ascii: " "), !line.isAtEnd { _ = try line.take() }
    var devices: [(name: String, user: String)] = []
    while line.startsToken() { devices.append(("r\(devices.count)", line.word())) }
    self.devices = devices
    var names: [UInt8: [String]] = [:]
    let lower = UInt8(ascii: "a")...UInt8(ascii: "z")
    var count = 1
    while count < text.lines.count, lower.contains(text.lines[count].next) {
      var line = text.lines[count]
      let letter = try line.take()
      var found: [String] = []
      while line.startsToken() {
        found.append(line.takes(".") ? line.word() : String(UnicodeScalar(letter)) + line.word())
      }
      names[letter] = found
      count += 1
    }
    self.names = names
    self.count = count
  }
}
