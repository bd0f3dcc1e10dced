// SPDX-License-Identifier: Apache-2.0

/// A run as a picture: a lane for each process, messages as arrows (those that never arrived are broken off), crashes,
/// starts, writes and refusals as marks on the lanes. Time is not to scale: each happening gets its place in order.
package struct Timeline {
  private let journal: Journal
  private let lanes: [String]
  private let times: [Int64]
  private static let laneHeight = 64
  private static let left = 110
  private static let step = 26

  package init(_ journal: Journal, last count: Int = 400) {
    self.journal = journal
    let lines = journal.lines.suffix(count)
    let first = lines.first?.at ?? 0
    let arrows = journal.arrows.filter { $0.sent >= first }
    times = Set(lines.map(\.at) + arrows.map(\.sent) + arrows.compactMap(\.arrived)).sorted()
    lanes = Set(lines.map(\.lane) + arrows.map(\.from) + arrows.map(\.to)).sorted()
  }

  /// The picture as SVG 1.1.
  package var svg: String {
    let width = Timeline.left + (times.count + 2) * Timeline.step
    let height = (lanes.count + 1) * Timeline.laneHeight
    var out = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" font-family="sans-serif" font-size="11">
      <style>.lane{stroke:#bbb}.message{stroke:#357;fill:none}.lost{stroke:#c33;stroke-dasharray:4 3}.crash{fill:#c33}
      .start{fill:#3a3}.write{fill:#357}.refusal{fill:#e80}.fault{fill:#c3c}.access{fill:#885}.server{fill:#555}</style>
      <rect width="100%" height="100%" fill="white"/>

      """
    for lane in lanes {
      let y = y(lane)
      out += "<text x=\"6\" y=\"\(y + 4)\">\(Timeline.escaped(lane))</text>"
      out += "<line class=\"lane\" x1=\"\(Timeline.left)\" y1=\"\(y)\" x2=\"\(width)\" y2=\"\(y)\"/>\n"
    }
    for arrow in journal.arrows where times.first.map({ arrow.sent >= $0 }) ?? false { out += draw(arrow) }
    for line in journal.lines where times.first.map({ line.at >= $0 }) ?? false { out += draw(line) }
    return out + "</svg>\n"
  }

  private func y(_ lane: String) -> Int {
    ((lanes.firstIndex(of: lane) ?? 0) + 1) * Timeline.laneHeight - Timeline.laneHeight / 3
  }

  private func x(_ time: Int64) -> Int {
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if times[middle] < time { low = middle + 1 } else { high = middle }
    }
    return Timeline.left + (low + 1) * Timeline.step
  }

  private func draw(_ arrow: Journal.Arrow) -> String {
    let (x1, y1) = (x(arrow.sent), y(arrow.from))
    let title = "<title>\(Timeline.escaped(arrow.label))</title>"
    guard let arrived = arrow.arrived else {
      // Broken off half-way.
      let (x2, y2) = (x1 + Timeline.step / 2, (y1 + y(arrow.to)) / 2)
      return "<g class=\"lost\">\(title)<line x1=\"\(x1)\" y1=\"\(y1)\" x2=\"\(x2)\" y2=\"\(y2)\"/>"
        + "<text x=\"\(x2 - 3)\" y=\"\(y2 + 4)\" fill=\"#c33\">×</text></g>\n"
    }
    let (x2, y2) = (x(arrived), y(arrow.to))
    return "<g class=\"message\">\(title)<line x1=\"\(x1)\" y1=\"\(y1)\" x2=\"\(x2)\" y2=\"\(y2)\"/>"
      + "<circle cx=\"\(x2)\" cy=\"\(y2)\" r=\"2\" fill=\"#357\"/></g>\n"
  }

  private func draw(_ line: Journal.Line) -> String {
    guard let mark = line.mark else { return "" }
    let (x, y) = (x(line.at), y(line.lane))
    let title = "<title>\(Timeline.escaped(line.text))</title>"
    return switch mark {
    case .crash: "<g class=\"crash\">\(title)<text x=\"\(x - 5)\" y=\"\(y + 5)\" font-size=\"16\">✕</text></g>\n"
    case .start:
      "<polygon class=\"start\" points=\"\(x - 4),\(y - 5) \(x - 4),\(y + 5) \(x + 5),\(y)\">\(title)</polygon>\n"
    default: "<circle class=\"\(mark.rawValue)\" cx=\"\(x)\" cy=\"\(y)\" r=\"4\">\(title)</circle>\n"
    }
  }

  private static func escaped(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      case _ where scalar.value < 0x20: out += " "
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}
