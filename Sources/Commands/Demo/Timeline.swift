// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit

/// Tells what happens in three columns, one below each of those who take part, with the time at the left.
struct Timeline {
  enum Place: Int, CaseIterable {
    case deviceA
    case server
    case deviceB

    var title: String {
      switch self {
      case .deviceA: "device A"
      case .server: "server"
      case .deviceB: "device B"
      }
    }
  }

  private static let width = 34
  private static let gap = 2
  private let start = SystemAmbient().now()

  func begin() {
    Output.line(line("time", Place.allCases.map(\.title)))
    let rule = String(repeating: "─", count: Timeline.width)
    Output.line(line("──────", [rule, rule, rule]))
  }

  /// One sentence in one column.
  func say(_ place: Place, _ text: String) {
    let parts = Timeline.wrap(text, Timeline.width)
    for (index, part) in parts.enumerated() {
      var cells = ["", "", ""]
      cells[place.rawValue] = part
      Output.line(line(index == 0 ? time : "", cells))
    }
  }

  /// A message from one to another; a lost one does not arrive.
  func message(_ from: Place, _ to: Place, _ text: String, isLost: Bool = false) {
    let isRight = to.rawValue > from.rawValue
    let left = min(from.rawValue, to.rawValue)
    let room = (Timeline.width + Timeline.gap) * abs(to.rawValue - from.rawValue) - 4
    let label = " " + text + " "
    let dashes = max(2, room - label.count)
    let (front, back) = (dashes / 2, dashes - dashes / 2)
    var arrow = String(repeating: "─", count: front) + label + String(repeating: "─", count: back)
    if isLost { arrow = isRight ? arrow.dropLast(6) + "─╳    " : "    ╳─" + arrow.dropFirst(6) }
    if !isLost { arrow = isRight ? arrow.dropLast() + "▶" : "◀" + arrow.dropFirst() }
    let indent = String(repeating: " ", count: left * (Timeline.width + Timeline.gap) + Timeline.width / 2)
    Output.line(Timeline.trimmed(Timeline.padded(time, 8) + indent + arrow))
  }

  private var time: String {
    let tenths = (SystemAmbient().now() - start) / 100
    return "\(tenths / 10).\(tenths % 10) s"
  }

  private func line(_ time: String, _ cells: [String]) -> String {
    let row = cells.map { Timeline.padded($0, Timeline.width + Timeline.gap) }.joined()
    return Timeline.trimmed(Timeline.padded(time, 8) + row)
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func trimmed(_ text: String) -> String {
    var text = text
    while text.last == " " { text.removeLast() }
    return text
  }

  /// Lines of at most so many characters, cut between words; a longer word gets a line of its own.
  static func wrap(_ text: String, _ width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
